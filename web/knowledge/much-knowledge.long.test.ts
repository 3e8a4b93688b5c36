import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { type KnowledgeServing, serveKnowledge } from "../../test/serve-knowledge.ts";

const text = (name: string, content: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });

describe("much knowledge", { skip: skipBrowser }, () => {
  let server: KnowledgeServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await serveKnowledge({ COLLOQUY_RAG__DOCUMENT_MB: "4" });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/knowledge`, { viewport: { width: 1200, height: 850 } });
    page.setDefaultTimeout(120_000);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  test("of a long document only what is around the passage is loaded, and nothing jumps when more of it is", async () => {
    const { id } = await server.knowledge.create({ name: "long" });
    const lines = Array.from({ length: 30_000 }, (_, at) => `Line ${at}: the heron stands in the water and waits.`);
    const added = await server.knowledge.addText(id, { name: "long.txt", text: lines.join("\n") });
    while ((await server.knowledge.document(added.document.id)).status !== "ready")
      await new Promise((go) => setTimeout(go, 200));
    const whole = await server.knowledge.text(added.document.id);
    const from = whole.indexOf("Line 15000:");
    const address = `${server.url}/knowledge/${id}?document=${added.document.id}`;
    const collection = `**/api/rag/collections/${id}`;
    const held = Promise.withResolvers<void>();
    await page.route(collection, async (route) => {
      await held.promise;
      await route.continue();
    });
    const read = page.waitForResponse(`**/api/rag/documents/${added.document.id}`);
    await page.goto(`${address}&from=${from}&to=${from + 50}`);
    const mark = page.locator("mark");
    await (await read).finished();
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown, 50)))");
    assert.equal(await page.getByRole("article").count(), 0, "not before what stands above it");
    held.resolve();
    await mark.waitFor();
    await page.unroute(collection);
    assert.match(await mark.innerText(), /^Line 15000: the heron/);
    const shown = () => page.evaluate("document.querySelector('.reader').textContent.length");
    const top = async () => Math.round((await mark.boundingBox())!.y);
    assert.ok((await top()) > 0 && (await top()) < 850, "in sight");
    assert.ok(Number(await shown()) < 20_000);
    for (const side of ["earlier", "later", "earlier"]) {
      const [was, length] = [await top(), Number(await shown())];
      await page.getByRole("button", { name: `Show ${side} text` }).dispatchEvent("click");
      while (Number(await shown()) === length) await page.waitForTimeout(20);
      assert.ok(Math.abs((await top()) - was) <= 1, `${side} moves it by ${(await top()) - was}`);
    }
    for (let more = 0; more < 8; more++) {
      const last = await page.locator(".reader > span").last().getAttribute("data-from");
      await page.getByRole("button", { name: "Show later text" }).click();
      await page.locator(`.reader > span:last-child:not([data-from="${last}"])`).waitFor();
      assert.ok(Number(await shown()) <= 80_000, "never all of it");
    }
    const parts = await page.locator(".reader").innerText();
    const first = Number(/Line (\d+):/.exec(parts)![1]);
    // One part goes on where the other ends.
    const numbers = [...parts.matchAll(/Line (\d+):/g)].map(([, number]) => Number(number));
    assert.deepEqual(
      numbers,
      Array.from({ length: numbers.length }, (_, at) => first + at),
    );
    assert.deepEqual(await violationsOf(page), []);

    await page.goto(`${address}&tab=chunks&from=${from}&to=${from + 50}`);
    await page.getByText("Line 15000:").first().waitFor();
    await page.getByRole("button", { name: "Later" }).first().click();
    await page.waitForURL(/chunk=/);
    assert.ok((await page.getByRole("listitem").filter({ hasText: "show in text" }).count()) <= 20);
  });

  test("many files at once: a few are sent at a time, and all are followed; pages have addresses", async () => {
    const { id } = await server.knowledge.create({ name: "many" });
    await page.goto(`${server.url}/knowledge/${id}`);
    let [sending, most] = [0, 0];
    page.on("request", (request) => {
      if (request.method() === "PUT") most = Math.max(most, ++sending);
    });
    const isSent = (request: { method(): string }) => request.method() === "PUT" && sending--;
    page.on("requestfinished", isSent);
    page.on("requestfailed", isSent);
    const files = Array.from({ length: 60 }, (_, at) =>
      text(`file-${String(at).padStart(2, "0")}.md`, `# File ${at}\n\nHeron ${at}.`),
    );
    files[7] = { name: "file-07.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4 nothing") };
    await page.locator("input[type=file]").first().setInputFiles(files);
    await page.getByText("59 of 60 ready, 1 failed").waitFor();
    assert.ok(most > 0 && most <= 3, `${most} at once`);
    assert.equal(await page.getByRole("rowheader").count(), 50);
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByRole("link", { name: "file-59.md" }).last().waitFor();
    assert.match(page.url(), /after=file-49/);
    await page.goBack();
    await page.getByRole("rowheader").nth(49).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test("what is too large is said before it is sent; folders keep their names; files are dropped", async () => {
    const { id } = await server.knowledge.create({ name: "others" });
    await page.goto(`${server.url}/knowledge/${id}`);
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles([text("large.txt", "x".repeat(5 * 1024 * 1024))]);
    await page.getByRole("alert").getByText("exceeds the limit of 4").waitFor();
    const folder = join(temporaryFolder("dropped"), "birds");
    mkdirSync(join(folder, "waders"), { recursive: true });
    writeFileSync(join(folder, "waders", "heron.md"), "A heron.");
    writeFileSync(join(folder, ".hidden"), "Nobody's.");
    await page.locator("input[type=file]").nth(1).setInputFiles(folder);
    await page.getByRole("rowheader", { name: "birds/waders/heron.md" }).waitFor();
    const dropped = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(["A stork."], "stork.md"));
      return data;
    })()`);
    await page.locator(".drop-zone").dispatchEvent("drop", { dataTransfer: dropped });
    await page.getByRole("rowheader", { name: "stork.md" }).waitFor();
    await page.getByText("2 of 3 ready, 1 failed").waitFor();
    assert.equal((await server.knowledge.collection(id)).counts.documents, 2);
  });

  test("complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
