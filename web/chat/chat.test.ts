import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  agree,
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { mail, sent } from "../../test/page-tools.ts";
import { createScripted, type ScriptAnswer } from "../../src/models/demo/scripted.ts";

let answers: ScriptAnswer[] = [];
let gate = Promise.withResolvers<void>();

async function findsNothing(page: Page, state: string): Promise<void> {
  assert.deepEqual(await violationsOf(page), [], state);
}

describe("the page", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      () => answers.shift() ?? "nothing more to say",
      { other: createScripted(() => "the other model") },
      { tools: [mail], approval: { ask: ["send_mail"] } },
    );
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const say = (text: string) => sayOn(page, text);
  const log = () => page.getByRole("log");

  test("opens on a composer that works at once", async () => {
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await findsNothing(page, "empty");
    answers = [[{ text: "Let me " }, { gate: () => gate.promise }, { text: "see **it**." }]];
    await say("hello there");
    await log().getByText("Let me").waitFor();
    assert.equal(await log().getAttribute("aria-busy"), "true");
    await findsNothing(page, "streaming");
    gate.resolve();
    await log().getByText("Let me see it.").waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    assert.match(page.url(), /\/chat\/[0-9a-f-]{36}$/);
    await page.getByRole("navigation").getByText("hello there").waitFor();
  });

  test("a reload in the middle of an answer goes on with it", async () => {
    gate = Promise.withResolvers<void>();
    answers = [[{ text: "first half" }, { gate: () => gate.promise }, { text: ", second half" }]];
    await say("in two halves");
    await log().getByText("first half").waitFor();
    await page.reload();
    await log().getByText("first half").waitFor();
    gate.resolve();
    await log().getByText("first half, second half").waitFor();
  });

  test("stop stops, and what came stays", async () => {
    answers = [[{ text: "a beginning" }, { hang: true }]];
    await say("go on for ever");
    await log().getByText("a beginning").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await log().getByText("Stopped.").waitFor();
    assert.equal(await log().getByText("a beginning").count(), 1);
  });

  test("what is said meanwhile is seen, and has its turn", async () => {
    const held = Promise.withResolvers<void>();
    answers = [[{ text: "thinking" }, { gate: () => held.promise }], "and now to you"];
    await say("one thing");
    await log().getByText("thinking").waitFor();
    await say("another thing");
    await log().getByText("Queued: another thing").waitFor();
    held.resolve();
    await log().getByText("and now to you").waitFor();
    assert.equal(await log().getByText("Queued").count(), 0);
  });

  test("what may not be done unasked is asked in place", async () => {
    answers = [[{ call: "send_mail", arguments: { to: "ann" } }], "Ann knows."];
    await say("tell ann");
    const question = page.getByRole("region", { name: "needs your input" });
    await question.waitFor();
    await findsNothing(page, "question");
    assert.equal(await page.getByRole("button", { name: "Retry", exact: true }).count(), 0, "it is being answered");
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await question.getByLabel("Arguments").fill("no json");
    await question.getByRole("button", { name: "Allow", exact: true }).click();
    await question.getByText("This is not valid JSON.").waitFor();
    await question.getByLabel("Arguments").fill('{"to":"anna"}');
    await question.getByRole("button", { name: "Allow", exact: true }).click();
    await log().getByText("Ann knows.").waitFor();
    assert.deepEqual(sent, ["anna"]);
    await log().getByText("Allowed with edited arguments.").waitFor();
    await log().locator("summary", { hasText: "send_mail" }).getByText("anna", { exact: true }).waitFor();

    answers = [[{ call: "send_mail", arguments: { to: "bob" } }], "Then not."];
    await say("tell bob");
    await question.getByRole("button", { name: "Deny …" }).click();
    await question.getByLabel("Reason").fill("he is away");
    await page.keyboard.press("Enter");
    await log().getByText("Then not.").waitFor();
    assert.deepEqual(sent, ["anna"]);
    await log().getByText("he is away").first().waitFor();
    await log().locator("summary", { hasText: "bob" }).getByText("denied").waitFor();
  });

  test("what a model writes can't take the page away, nor load anything", async () => {
    answers = [
      "![a](http://) ![b](http://[) ![c](https://x:99999/y) ![d](https://example.com/z.png) [e](javascript:alert(1)) <img src=x onerror=alert(1)>",
    ];
    await say("pictures?");
    await log().getByRole("link", { name: "d" }).waitFor();
    assert.equal(await log().getByText("<img src=x").count(), 1);
    assert.equal(await log().locator("img").count(), 0);
    assert.equal(await log().getByRole("link", { name: "e", exact: true }).count(), 0);
  });

  test("a tool's line opens to what it was asked and brought", async () => {
    answers = [[{ call: "calculate", arguments: { expression: "6*7" } }], "It is 42."];
    await say("6*7?");
    await log().getByText("It is 42.").waitFor();
    await log().getByText("6*7", { exact: true }).click();
    await log().getByText("42", { exact: true }).waitFor();
  });

  test("files go along: by the button, dropped, pasted; a broken one says so", async () => {
    const attach = page.locator("input[type=file]");
    await attach.setInputFiles([
      { name: "sales.csv", mimeType: "text/csv", buffer: Buffer.from("customer,amount\nC1,3\n") },
      { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4 nothing") },
    ]);
    await page.getByText("broken.pdf").waitFor();
    await page.getByRole("alert").first().waitFor();
    await page.getByRole("button", { name: "Remove broken.pdf" }).click();
    await page.getByText("processing").waitFor({ state: "detached" });
    await attach.setInputFiles([{ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) }]);
    await page.getByText("This file is empty.").waitFor();
    await say("what is in it?");
    await log().getByText("Retry or remove them: empty.txt.").waitFor();
    assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "what is in it?");
    await page.getByRole("button", { name: "Remove empty.txt" }).click();
    await findsNothing(page, "files");
    answers = ["A table."];
    await say("what is in it?");
    await log().getByText("A table.").waitFor();
    await log().getByRole("link", { name: "sales.csv" }).waitFor();
    const told = JSON.stringify(server.model.requests.at(-1)?.messages.at(-1));
    assert.match(told, /customer/);
  });

  test("another answer, an edited message, and back", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    answers = ["the first answer", "the second answer", "the third answer"];
    await say("which?");
    await log().getByText("the first answer").waitFor();
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await log().getByText("the second answer").waitFor();
    await log().getByText("2 / 2").waitFor();
    await page.getByRole("button", { name: "Previous version" }).click();
    await log().getByText("the first answer").waitFor();
    await log().getByText("the second answer").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Edit" }).fill("which one?");
    await page.getByRole("button", { name: "Save and rerun" }).click();
    await log().getByText("the third answer").waitFor();
    await log().getByText("the first answer").waitFor({ state: "detached" });
    // The branch that is shown is the server's word: another tab sees the same.
    const other = await browser.open(page.url());
    await other.getByRole("log").getByText("the third answer").waitFor();
    assert.equal(await other.getByRole("log").getByText("which?").count(), 0);
    await other.close();
  });

  test("another model, conversations named, found and removed", async () => {
    await page.getByRole("combobox", { name: /^Model/ }).click();
    await page.getByRole("option", { name: /^other/ }).click();
    await say("and you?");
    await log().getByText("the other model").waitFor();
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: "which?" }).focus();
    await page.keyboard.press("F2");
    await page.getByRole("textbox", { name: "Rename" }).fill("A question of which");
    await page.keyboard.press("Enter");
    await list.getByRole("link", { name: "A question of which" }).waitFor();
    await list.getByRole("searchbox").fill("hello");
    await list.getByRole("link", { name: "A question of which" }).waitFor({ state: "detached" });
    await list.getByRole("link", { name: "hello there" }).waitFor();
    await list.getByRole("searchbox").fill("");
    await list.getByRole("link", { name: "A question of which" }).focus();
    await page.keyboard.press("Delete");
    await agree(page, "Delete");
    await list.getByRole("link", { name: "A question of which" }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
  });

  test("in the dark, on a phone, in German", async () => {
    const phone = await browser.open(server.url, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
      hasTouch: true,
    });
    await phone.getByRole("heading", { name: "Womit kann ich helfen?" }).waitFor();
    await findsNothing(phone, "phone");
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await phone.getByRole("button", { name: "Gespräche anzeigen" }).click();
    await phone.getByRole("link", { name: "hello there" }).click();
    await phone.getByRole("log").getByText("Let me see it.").waitFor();
    await findsNothing(phone, "phone, conversation");
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
