import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { agree, type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { pdfOf } from "../../test/office-files.ts";
import { type KnowledgeServing, serveKnowledge } from "../../test/serve-knowledge.ts";

async function isWhole(page: Page, state: string): Promise<void> {
  assert.deepEqual(await violationsOf(page), [], state);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), 0, state);
}

const herons = `# Herons\n\nThe grey heron stands in shallow water and waits for fish. ${"It stands still for a long time. ".repeat(5)}

## Nests\n\nIt nests in high trees. ${"Many herons nest beside one another. ".repeat(5)}\n`;
const text = (name: string, content: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });

describe("the view of knowledge", { skip: skipBrowser }, () => {
  let server: KnowledgeServing;
  let browser: OpenBrowser;
  let page: Page;
  let collection: string;
  before(async () => {
    server = await serveKnowledge();
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    const look = { viewport: { width: 1200, height: 850 }, serviceWorkers: "block" } as const;
    page = await browser.open(`${server.url}/knowledge`, look);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  const added = (name: string) =>
    page.getByRole("region", { name: "Uploads" }).getByRole("listitem").filter({ hasText: name });
  const choose = (files: Parameters<ReturnType<Page["locator"]>["setInputFiles"]>[0]) =>
    page.locator("input[type=file]").first().setInputFiles(files);

  test("a collection is made from what the server has", async () => {
    await page.getByText("No collections yet.").waitFor();
    await isWhole(page, "no collections");
    // Its own styles count more than the bare ones, whichever file comes first.
    const colour = await page.evaluate('getComputedStyle(document.querySelector("main .button-main")).backgroundColor');
    assert.notEqual(colour, "rgba(0, 0, 0, 0)");
    await page.getByRole("button", { name: "New collection" }).click();
    const form = page.getByRole("form", { name: "New collection" });
    await form.getByLabel("Name", { exact: true }).fill("birds");
    await form.getByLabel("Description").fill("What we know of birds");
    await form.getByRole("combobox", { name: "Embedding model" }).fill("http:words");
    await form.getByText("Chunking and search").click();
    await form.getByLabel("Chunk size (tokens)").fill("60");
    await form.getByLabel("Chunk overlap (tokens)").fill("40");
    await isWhole(page, "new collection");
    await form.getByRole("button", { name: "Create collection" }).click();
    // What is wrong is said, and what was typed stays.
    await form.getByRole("alert").getByText("at most half of chunkSize").waitFor();
    await form.getByLabel("Chunk overlap (tokens)").fill("10");
    await form.getByRole("button", { name: "Create collection" }).click();
    await page.getByRole("heading", { name: "birds" }).waitFor();
    await page.getByText("No documents yet.").waitFor();
    await isWhole(page, "no documents");
    collection = new URL(page.url()).pathname.split("/").at(-1)!;
  });

  test("three files, one of them broken: each is followed until it is ready or failed, and why", async () => {
    await choose([
      text("herons.md", herons),
      {
        name: "storks.pdf",
        mimeType: "application/pdf",
        buffer: pdfOf(["The stork walks.", "The stork nests on roofs."]),
      },
      { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4 nothing") },
    ]);
    await page.getByText("2 of 3 ready, 1 failed").waitFor();
    await row("herons.md").getByText("ready").waitFor();
    await row("broken.pdf").getByText("failed").waitFor();
    assert.equal(await added("broken.pdf").count(), 0, "what can't be read stands in the table alone");
    await page.getByRole("link", { name: "Show failed" }).click();
    await row("storks.pdf").waitFor({ state: "detached" });
    const followed = page.waitForResponse(
      async (answer) => /\/documents\/[0-9a-f-]{36}$/.test(answer.url()) && (await answer.text()).includes('"failed"'),
    );
    await row("broken.pdf").getByRole("button", { name: "Process again: broken.pdf" }).click();
    await followed;
    await page.getByText("2 of 3 ready, 1 failed").waitFor();
    await page.goBack();
    assert.equal(await row("storks.pdf").getByRole("cell").nth(3).innerText(), "2");
    await isWhole(page, "documents");
    await choose([{ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) }]);
    await added("empty.txt").getByText("empty.txt is empty.").waitFor();
    assert.equal(
      await added("empty.txt")
        .getByRole("button", { name: /Try again/ })
        .count(),
      0,
      "of no use",
    );
    assert.equal(await added("storks.pdf").count(), 0, "what is ready stands in the table alone");
    // Again: what is there already is told so.
    await choose([text("herons.md", herons), text("copy.md", herons)]);
    await added("herons.md").getByText("Already up to date").waitFor();
    await added("copy.md").getByText("duplicate of herons.md").waitFor();
    await page.getByRole("button", { name: "Clear list" }).click();
    await page.getByRole("region", { name: "Uploads" }).waitFor({ state: "detached" });
  });

  test("a text that is pasted, and an address that can't be fetched", async () => {
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "Storks clatter with their bills.");
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }`);
    await page.getByLabel("Name", { exact: true }).fill("clatter.md");
    assert.equal(await page.getByRole("textbox", { name: "Text" }).inputValue(), "Storks clatter with their bills.");
    await isWhole(page, "a text");
    await page.getByRole("button", { name: "Add text" }).click();
    await row("clatter.md").getByText("ready").waitFor();
    await page.getByRole("button", { name: "From the web" }).click();
    await page.getByRole("textbox", { name: "Addresses" }).fill("no-address");
    await page.getByRole("button", { name: "Add addresses" }).click();
    await added("no-address").getByRole("alert").waitFor();
  });

  test("documents are looked for by name and state, by the address too", async () => {
    await page.getByLabel("Name contains").fill("STORK");
    await row("herons.md").waitFor({ state: "detached" });
    await row("storks.pdf").waitFor();
    assert.match(page.url(), /search=STORK/);
    await page.goto(`${server.url}/knowledge/${collection}?state=failed`);
    await row("broken.pdf").waitFor();
    assert.equal(await page.getByRole("row").count(), 2);
    await row("broken.pdf").getByRole("button", { name: "Delete: broken.pdf" }).click();
    await agree(page, "Delete");
    await page.getByText("No matching documents").waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await row("herons.md").waitFor();
  });

  test("a document: its text, its chunks, its original", async () => {
    await page.getByRole("link", { name: "herons.md" }).click();
    await page.getByRole("heading", { name: "herons.md" }).waitFor();
    await page.locator(".reader").getByText("stands in shallow water").waitFor();
    await isWhole(page, "text");
    await page.getByRole("link", { name: "Chunks", exact: true }).click();
    await page.getByText("Chunk 2").waitFor();
    await page.getByText("Herons › Nests").first().waitFor();
    await page.getByText("characters shared with the previous chunk").first().waitFor();
    await isWhole(page, "chunks");
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Original" }).click();
    assert.equal((await downloading).suggestedFilename(), "herons.md");
  });

  test("an address with a passage opens the text there, marked, with its headings", async () => {
    const { id } = (await server.knowledge.documents(collection)).find(({ name }) => name === "herons.md")!;
    const read = await server.knowledge.text(id);
    const [from, to] = [read.indexOf("It nests"), read.indexOf(" in high")];
    await page.goto(`${server.url}/knowledge/${collection}?document=${id}&from=${from}&to=${to}`);
    assert.equal(await page.locator("mark").innerText(), "It nests");
    await page.getByText("Herons › Nests").waitFor();
    await isWhole(page, "passage");
    await page.goto(`${server.url}/knowledge/${collection}?document=${id}&from=100000&to=100010`);
    await page.getByText("This passage no longer exists").waitFor();
    await page.locator(".reader").getByText("stands in shallow water").waitFor();
  });

  test("a question: passages with their scores, and how they were found", async () => {
    const other = await server.knowledge.create({ name: "ships" });
    await page.goto(`${server.url}/knowledge?show=ask`);
    await page.getByText("No queries yet.").waitFor();
    await isWhole(page, "ask");
    await page.getByRole("checkbox", { name: "birds" }).check();
    await page.getByRole("textbox", { name: "Question" }).fill("Where do herons stand and wait for fish?");
    await page.keyboard.press("Enter");
    await page.getByText(/\d passages? of \d candidates? in/).waitFor();
    const trace = page.getByRole("group").filter({ hasText: "How it was found" });
    await trace.getByText("both · weight of meaning 0.5 · http:words").waitFor();
    await trace.getByText("all vectors compared").waitFor();
    await trace.getByText("embedding").waitFor();
    await row("herons.md").first().getByText("used").waitFor();
    await isWhole(page, "answer");
    // The same by its address, for whoever comes back to it.
    await page.reload();
    await page.getByText("The grey heron stands in shallow water").first().waitFor();
    await page.getByRole("region", { name: "Past queries" }).getByRole("link").waitFor();
    await page.getByRole("listitem").getByRole("link", { name: "herons.md" }).first().click();
    await page.locator("mark").first().waitFor();
    await page.goBack();
    await page.getByText("How it was found").waitFor();
    await server.knowledge.removeCollection(other.id);
  });

  test("an answer that comes late leaves whoever went elsewhere there", async () => {
    await page.goto(`${server.url}/knowledge?show=ask`);
    const held = Promise.withResolvers<void>();
    await page.route("**/api/rag/query", async (route) => {
      await held.promise;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole("textbox", { name: "Question" }).fill("herons");
    const asked = page.waitForRequest("**/api/rag/query");
    await page.keyboard.press("Enter");
    await asked;
    await page.getByRole("link", { name: "Collections" }).click();
    await page.getByRole("button", { name: "New collection" }).waitFor();
    held.resolve();
    await (await asked).response().catch(() => undefined);
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))");
    assert.equal(new URL(page.url()).search, "");
    await page.unroute("**/api/rag/query");
  });

  test("settings: changed, shared, read anew, deleted", async () => {
    await page.goto(`${server.url}/knowledge/${collection}?show=settings`);
    const about = page.getByRole("form", { name: "Name and description" });
    await about.getByLabel("Name", { exact: true }).fill("our birds");
    await about.getByRole("button", { name: "Save" }).click();
    await about.getByText("Saved.").waitFor();
    await page.getByRole("heading", { name: "our birds" }).waitFor();
    const share = page.getByRole("form", { name: "Sharing" });
    await share.getByLabel("Name", { exact: true }).fill("nobody-here");
    await share.getByRole("button", { name: "Share" }).click();
    await share.getByText("User nobody-here not found.").waitFor();
    await share.getByLabel("Share with").selectOption("everyone");
    await share.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Stop sharing with everyone" }).waitFor();
    const searching = page.getByRole("form", { name: "Search" });
    await searching.getByLabel("Search by").selectOption("lexical");
    await searching.getByRole("button", { name: "Save" }).click();
    await searching.getByText("Saved.").waitFor();
    const cutting = page.getByRole("form", { name: "Indexing" });
    await cutting.getByLabel("Chunk size (tokens)").fill("200");
    await cutting.getByText("These changes require re-indexing").waitFor();
    await isWhole(page, "settings");
    await cutting.getByRole("button", { name: "Re-index all documents" }).click();
    await agree(page, "Re-index all documents");
    await cutting.getByText("These changes require re-indexing").waitFor({ state: "detached" });
    assert.equal((await server.knowledge.collection(collection)).settings.chunkSize, 200);

    await page.getByRole("button", { name: "Delete this collection" }).click();
    await agree(page, "Delete");
    await page.getByText("No collections yet.").waitFor();
  });

  test("on a phone, in the dark, in German", async () => {
    const { id } = await server.knowledge.create({ name: "Vögel", description: "Alles über Vögel" });
    const { document } = await server.knowledge.addText(id, { name: "reiher.md", text: herons });
    while ((await server.knowledge.document(document.id)).status !== "ready");
    const { id: trace } = await server.knowledge.query({ question: "heron", collections: [id] });
    const phone = await browser.open(`${server.url}/knowledge`, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
      hasTouch: true,
    });
    const states = [
      ["/knowledge", "Vögel"],
      ["/knowledge?new=1", "Neue Sammlung"],
      [`/knowledge/${id}`, "reiher.md"],
      [`/knowledge/${id}?document=${document.id}&from=10&to=40`, "Stelle"],
      [`/knowledge/${id}?document=${document.id}&tab=chunks`, "Abschnitt 1"],
      [`/knowledge/${id}?trace=${trace}`, "verwendet"],
      [`/knowledge/${id}?show=settings`, "Diese Sammlung löschen"],
    ] as const;
    for (const [path, shown] of states) {
      await phone.goto(server.url + path);
      await phone.getByText(shown).first().waitFor();
      await isWhole(phone, path);
    }
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    const refused = /^Failed to load resource: the server responded with a status of 4(00|22)|blocked by Playwright/;
    assert.deepEqual(
      browser.complaints().filter((each) => !refused.test(each)),
      [],
    );
  });
});
