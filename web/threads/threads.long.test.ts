import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page, Request } from "playwright-core";
import { type Client, createClient } from "../../src/client/client.ts";
import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import {
  agree,
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { until } from "../../test/run-suite.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { mail } from "../../test/page-tools.ts";
import { markedPieces } from "./search-matches.ts";
import { sectionsOf } from "./sections.ts";

test("threads stand under the day when they were last used", () => {
  const now = new Date(2026, 2, 30, 0, 30);
  const at = (...time: [number, number, number, number]) =>
    ({ id: time.join(), usedAt: new Date(...time).toISOString() }) as ListedThread;
  const sections = sectionsOf(
    [at(2026, 2, 30, 0), at(2026, 2, 29, 1), at(2026, 2, 28, 23), at(2026, 2, 23, 0), at(2026, 2, 22, 23)],
    now,
  );
  assert.deepEqual(
    sections.map(({ name, threads }) => [name, threads.length]),
    [
      ["today", 1],
      ["yesterday", 1],
      ["week", 2],
      ["older", 1],
    ],
  );
});

test("what was searched for is marked, and seen in a short line", () => {
  const shown = (...given: Parameters<typeof markedPieces>) =>
    markedPieces(...given)
      .map(({ piece, isFound }) => (isFound ? `[${piece}]` : piece))
      .join("");
  const text = "list_files, update_task, write_file. Try to buy Milk (100%) and more milk";
  assert.equal(shown(text, "milk", true), "…Try to buy [Milk] (100%) and more [milk]");
  assert.equal(shown(text, " 100%) buy", false), text.replace("buy", "[buy]").replace("100%)", "[100%)]"));
  assert.equal(shown(text, "cocoa", true), text);
  assert.equal(shown(text, "  ", true), text);
});

describe("the list of conversations", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let client: Client;
  before(async () => {
    server = await servePage(
      ({ messages }) =>
        messages.at(-1)?.content === "tell ann" ? [{ call: "send_mail", arguments: { to: "ann" } }] : "As you say.",
      {},
      { tools: [mail], approval: { ask: ["send_mail"] } },
    );
    for (let count = 1; count <= 105; count++)
      await server.threads.createThread(server.caller, { title: `talk ${String(count).padStart(3, "0")}` });
    client = createClient(server);
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 }, serviceWorkers: "block" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const list = () => page.getByRole("navigation", { name: "Conversations" });
  const link = (name: string | RegExp) => list().getByRole("link", { name });
  const idOf = async (title: string) =>
    (await list().locator("li", { hasText: title }).getAttribute("data-thread")) ?? "";
  /** By the menu of one of the list. */
  const choose = async (deed: string, name: string, ...more: string[]) => {
    await link(name).hover();
    await list()
      .getByRole("button", { name: `More options: ${name}` })
      .click();
    for (const each of [deed, ...more]) await page.getByRole("menuitem", { name: each, exact: true }).click();
  };

  test("by days, and beyond the first hundred", async () => {
    await list().getByRole("region", { name: "Today" }).waitFor();
    await link("talk 105").waitFor();
    assert.equal(await link("talk 001").count(), 0);
    await list().getByRole("button", { name: "Show more" }).click();
    await link("talk 001").waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test("by keyboard: arrows, F2, Delete", async () => {
    await list().getByRole("searchbox").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("F2");
    await page.getByRole("textbox", { name: "Rename" }).fill("renamed by keys");
    await page.keyboard.press("Enter");
    await link("renamed by keys").waitFor();
    await link("talk 103").focus();
    await page.keyboard.press("Delete");
    await agree(page, "Delete");
    await link("talk 103").waitFor({ state: "detached" });
    const focused = () => page.evaluate("document.activeElement?.textContent");
    await until(async () => (await focused()) === "talk 102");
  });

  test("whoever thinks better of it has lost nothing, not even the place", async () => {
    const question = page.getByRole("alertdialog", { name: "Delete this conversation?" });
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      escape: () => page.keyboard.press("Escape"),
      enter: () => page.keyboard.press("Enter"),
      beside: () => page.mouse.click(5, 5),
    };
    const asked: string[] = [];
    const note = (request: Request) => asked.push(`${request.method()} ${request.url()}`);
    page.on("request", note);
    for (const [name, leave] of Object.entries(ways)) {
      await link("talk 102").focus();
      await page.keyboard.press("Delete");
      await question.getByText("“talk 102” and everything in it will be permanently deleted.").waitFor();
      await question.locator("button:focus", { hasText: "Cancel" }).waitFor();
      assert.deepEqual(await violationsOf(page), [], name);
      await leave();
      await question.waitFor({ state: "detached" });
      await link("talk 102").and(page.locator(":focus")).waitFor();
    }
    page.off("request", note);
    assert.deepEqual(
      asked.filter((what) => what.startsWith("DELETE")),
      [],
    );
  });

  test("of two questions the second is asked after the first", async () => {
    const deletion = (name: string) =>
      `[...document.querySelectorAll(".thread-link")].find((each) => each.textContent === "${name}")
        .dispatchEvent(new KeyboardEvent("keydown", { key: "Delete", bubbles: true }))`;
    await page.evaluate(`${deletion("talk 101")}, ${deletion("talk 102")}`);
    for (const name of ["talk 101", "talk 102"]) {
      await page.getByRole("alertdialog").getByText(`“${name}”`).waitFor();
      assert.equal(await page.getByRole("alertdialog").count(), 1);
      await page.keyboard.press("Escape");
    }
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
  });

  test("a question does not outlive the view that it was asked in", async () => {
    await link("talk 102").click();
    await page.getByRole("heading", { level: 1, name: "talk 102" }).waitFor();
    await page.getByRole("main").getByRole("button", { name: "More options" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const question = page.getByRole("alertdialog");
    await question.waitFor();
    await page.goBack();
    await question.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await link("talk 102").waitFor();
  });

  test("put away, found again and brought back", async () => {
    await choose("Archive", "talk 102");
    await link("talk 102").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await link("talk 102").waitFor();
    await link("talk 102").focus();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Archive" }).click();
    await link("talk 102").waitFor({ state: "detached" });
    await page.getByRole("status").filter({ hasText: "Conversation archived." }).waitFor();
    await list().getByRole("button", { name: "Archived" }).click();
    await link("talk 102").waitFor();
    assert.equal(await link("talk 101").count(), 0);
    assert.deepEqual(await violationsOf(page), []);
    await choose("Unarchive", "talk 102");
    await list().getByText("No archived conversations").waitFor();
    await list().getByRole("button", { name: "Back to conversations" }).click();
    await link("talk 102").waitFor();
  });

  test("what is open stays named while another one is put away", async () => {
    await choose("Archive", "talk 101");
    await link("talk 101").waitFor({ state: "detached" });
    await list().getByRole("button", { name: "Archived" }).click();
    await link("talk 101").click();
    const title = page.getByRole("heading", { level: 1, name: "talk 101" });
    await title.waitFor();
    await list().getByRole("button", { name: "Back to conversations" }).click();
    await choose("Archive", "talk 100");
    await link("talk 100").waitFor({ state: "detached" });
    assert.ok(await title.isVisible());
    await page.goto(server.url);
    await link("talk 105").waitFor();
  });

  test("a list that was asked for before something was removed does not bring it back", async () => {
    const held = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    await page.route(
      /\/api\/threads\?/,
      async (route) => {
        const answer = await route.fetch();
        isHeld.resolve();
        await held.promise;
        await route.fulfill({ response: answer }).catch(() => undefined);
      },
      { times: 1 },
    );
    await page.evaluate(`dispatchEvent(new Event("focus"))`);
    await isHeld.promise;
    const newer = page.waitForResponse(/\/api\/threads\?/);
    await link("talk 099").focus();
    await page.keyboard.press("Delete");
    await agree(page, "Delete");
    await (await newer).finished();
    await link("talk 099").waitFor({ state: "detached" });
    held.resolve();
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))");
    assert.equal(await link("talk 099").count(), 0);
  });

  test("a search shows the words that it found", async () => {
    await page.getByRole("textbox", { name: "Message" }).fill("the quick brown fox");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("As you say.").waitFor();
    await list().getByRole("searchbox").fill("brown");
    await list()
      .locator("mark", { hasText: /^brown$/ })
      .last()
      .waitFor();
    await link("talk 105").waitFor({ state: "detached" });
    await list().getByRole("button", { name: "New conversation" }).click();
    await link("talk 105").waitFor();
    assert.equal(await list().getByRole("searchbox").inputValue(), "");
    await link("the quick brown fox").click();
  });

  test("what is open stays whole while something else is searched for", async () => {
    const title = page.getByRole("heading", { level: 1, name: "the quick brown fox" });
    await title.waitFor();
    await list().getByRole("searchbox").fill("talk 104");
    await link("the quick brown fox").waitFor({ state: "detached" });
    assert.ok(await title.isVisible());
    assert.match(await page.title(), /^the quick brown fox/);
    await list().getByRole("searchbox").fill("");
    await link("talk 105").waitFor();
  });

  test("what waits is called, from whatever is open", async () => {
    const thread = await server.threads.createThread(server.caller, { title: "a letter" });
    await server.runs.start(server.caller, {
      threadId: thread.id,
      agent: "assistant",
      message: { content: "tell ann" },
    });
    await until(async () => {
      await page.evaluate(`dispatchEvent(new Event("focus"))`);
      return (await page.title()).startsWith("(1)");
    });
    await link(/a letter.*needs your input/).waitFor();
    assert.match(String(await page.locator("link[rel=icon]").getAttribute("href")), /^data:/);
    assert.deepEqual(await violationsOf(page), []);
    await link(/a letter/).click();
    await page.getByRole("log").getByRole("button", { name: "Allow", exact: true }).click();
    await until(async () => !(await page.title()).startsWith("("));
    await link(/^a letter$/).waitFor();
  });

  test("pinned ones stand first, read or unread as they are marked", async () => {
    const fox = "the quick brown fox";
    await link("talk 090").click();
    await page.getByRole("heading", { level: 1, name: "talk 090" }).waitFor();
    await choose("Pin", fox);
    const pinned = list().getByRole("region", { name: "Pinned" });
    await pinned.getByRole("link", { name: fox }).waitFor();
    assert.equal(await link(fox).count(), 1);
    const isUnread = async () => (await client.thread(await idOf(fox))).unread;
    assert.equal(await isUnread(), false);
    await choose("Mark as unread", fox);
    await link(/the quick brown fox.*new/).waitFor();
    await until(isUnread);
    await pinned.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: fox }).waitFor();
    await until(async () => !(await isUnread()));
    await choose("Unpin", fox);
    await pinned.waitFor({ state: "detached" });
  });

  test("a folder: made with one in it, opened, given an agent, deleted without what is in it", async () => {
    // There is no knowledge on the server of this test.
    await page.route("**/api/rag/collections", (route) => route.fulfill({ json: { object: "list", data: [] } }));
    await choose("Move to folder", "talk 089", "New folder");
    const dialog = page.getByRole("dialog", { name: "New folder" });
    await dialog.getByLabel("Name").fill("Roastery");
    assert.deepEqual(await violationsOf(page), [], "dialog");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const folder = list().getByRole("region", { name: "Roastery" });
    await link("talk 089").waitFor({ state: "detached" });
    await folder.getByRole("button", { name: "Roastery", exact: true }).click();
    await folder.getByRole("link", { name: "talk 089" }).waitFor();
    assert.deepEqual(await violationsOf(page), [], "folder");
    await choose("Move to folder", "talk 088", "Roastery");
    await folder.getByRole("link", { name: "talk 088" }).waitFor();
    // What is begun in it stands in it.
    await folder.getByRole("button", { name: "More options: Roastery" }).click();
    await page.getByRole("menuitem", { name: "New conversation here" }).click();
    await page.getByText("In the folder Roastery").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("how much is a pound?");
    await page.keyboard.press("Enter");
    await folder.getByRole("link", { name: "how much is a pound?" }).waitFor();
    await folder.getByRole("button", { name: "More options: Roastery" }).click();
    await page.getByRole("menuitem", { name: "Delete folder" }).click();
    await agree(page, "Delete");
    await folder.waitFor({ state: "detached" });
    await list().getByRole("region", { name: "Today" }).getByRole("link", { name: "talk 088" }).waitFor();
  });

  test("many at once", async () => {
    await choose("Select", "talk 087");
    await list().getByRole("checkbox", { name: "Select talk 086" }).check();
    await list().getByText("2 selected").waitFor();
    assert.deepEqual(await violationsOf(page), [], "selecting");
    await list().getByRole("button", { name: "Do with the selected" }).click();
    await page.getByRole("menuitem", { name: "Archive" }).click();
    await link("talk 087").waitFor({ state: "detached" });
    assert.equal(await link("talk 086").count(), 0);
    assert.equal(await list().getByRole("checkbox").count(), 0);
  });

  test("a room stands among the conversations, and leads to itself", async () => {
    const room = await client.rooms.create({
      title: "Tasting table",
      members: [{ agent: "assistant", activation: "mention" }],
    });
    await page.evaluate(`dispatchEvent(new Event("focus"))`);
    await link(/Tasting table/).click();
    await page.waitForURL(`**/rooms/${room.id}`);
    await list().locator("[aria-current] .thread-link", { hasText: "Tasting table" }).waitFor();
    await page.goto(server.url);
  });

  test("on a phone, in the dark, in German", async () => {
    const phone = await browser.open(server.url, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
      hasTouch: true,
    });
    await phone.getByRole("button", { name: "Gespräche anzeigen" }).click();
    await phone.getByRole("link", { name: "talk 105" }).waitFor();
    assert.deepEqual(await violationsOf(phone), []);
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    // A question stands before the list, which stands before the page.
    const deeds = phone.getByRole("button", { name: "Weitere Optionen: talk 105" });
    await deeds.tap();
    await phone.getByRole("menuitem", { name: "Löschen" }).tap();
    const question = phone.getByRole("alertdialog", { name: "Dieses Gespräch löschen?" });
    await question.waitFor();
    assert.deepEqual(await violationsOf(phone), []);
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await pictureOf(phone, "asked back before the list");
    await question.getByRole("button", { name: "Abbrechen" }).tap();
    await question.waitFor({ state: "detached" });
    await deeds.and(phone.locator(":focus")).waitFor();
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !text.includes("blocked by Playwright")),
      [],
    );
  });
});
