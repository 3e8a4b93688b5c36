import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

let answers: ScriptAnswer[] = [];

describe("messages that wait for their turn", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const say = (text: string) => sayOn(page, text);
  const log = () => page.getByRole("log");
  const field = () => page.getByRole("textbox", { name: "Message" });
  const settled = () => page.locator("[role=log][aria-busy=false]").waitFor();

  test("what waits is there after a reload and in another tab, is edited in the one and taken back in the other", async () => {
    const held = Promise.withResolvers<void>();
    answers = [[{ text: "busy" }, { gate: () => held.promise }], "and yours"];
    await say("keep me waiting");
    await log().getByText("busy").waitFor();
    const other = await browser.open(page.url(), { viewport: { width: 360, height: 740 } });
    await other.getByRole("log").getByText("busy").waitFor();
    await page
      .locator("input[type=file]")
      .setInputFiles([{ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") }]);
    await page.getByRole("button", { name: "Remove list.csv" }).waitFor();
    await page.getByText(/^(processing|\d+%)$/).waitFor({ state: "detached" });
    await say("the first that waits");
    await log().getByText("Queued: the first that waits · list.csv").waitFor();
    await say("the second that waits");
    await other.getByText("Queued: the second that waits").waitFor();
    assert.deepEqual(await violationsOf(other), []);
    assert.equal(await other.evaluate("document.documentElement.scrollWidth"), 360);
    await page.reload();
    const waiting = log().getByText(/^Queued/);
    await waiting.nth(1).waitFor();
    assert.deepEqual(
      (await waiting.allTextContents()).map((text) => text.replace(/^.*Queued: /, "")),
      ["the first that waits · list.csv", "the second that waits"],
    );

    await other.getByRole("button", { name: "Remove" }).nth(1).click();
    await log().getByText("Queued: the second that waits").waitFor({ state: "detached" });
    await log().getByRole("button", { name: "Edit", exact: true }).last().click();
    await page.getByRole("button", { name: "Remove list.csv" }).waitFor();
    const field = page.getByRole("textbox", { name: "Message" });
    assert.equal(await field.inputValue(), "the first that waits");
    assert.equal(await waiting.count(), 0);
    await field.press("Enter");
    await waiting.waitFor();
    held.resolve();
    await log().getByText("and yours").waitFor();
    await waiting.waitFor({ state: "detached" });
    await log().getByRole("link", { name: "list.csv" }).waitFor();
    await other.getByText("and yours").waitFor();
    await other.close();
  });

  test("a model that says nothing yet: who was asked, and for how long", async () => {
    const held = Promise.withResolvers<void>();
    const next = Promise.withResolvers<void>();
    const call = { call: "calculate", arguments: { expression: "6*7" } };
    answers = [
      [{ gate: () => held.promise }, call],
      [{ gate: () => next.promise }, { text: "It is 42." }],
    ];
    await sayOn(page, "6*7?");
    await log().getByText("Waiting for the first token · ").waitFor();
    assert.deepEqual(await violationsOf(page, "color-contrast"), []);
    await pictureOf(page, "waiting first word");
    held.resolve();
    await log().getByText("Waiting for the model · ").waitFor();
    await pictureOf(page, "waiting model");
    next.resolve();
    await log().getByText("It is 42.").waitFor();
    await log().getByText("Waiting for the model").waitFor({ state: "detached" });
  });

  test("what is said meanwhile is heard now or later, and can be edited while it waits", async () => {
    const held = Promise.withResolvers<void>();
    await page.goto(server.url);
    answers = [[{ text: "thinking" }, { gate: () => held.promise }], "I heard the second.", "I heard the third."];
    await say("one");
    await log().getByText("thinking").waitFor();
    assert.equal(await log().getAttribute("aria-live"), "off");
    assert.match(await page.getByRole("status").first().innerText(), /@assistant is working/);
    assert.deepEqual(await violationsOf(page), []);
    await say("wait, this");
    await log().getByText("Queued: wait, this").waitFor();
    await log().getByRole("button", { name: "Edit", exact: true }).click();
    await log().getByText("Queued").waitFor({ state: "detached" });
    assert.equal(await field().inputValue(), "wait, this");
    await page.getByRole("button", { name: "When to send: Queue" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Steer now" }).click();
    await page.getByRole("button", { name: "When to send: Steer now" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await say("rather this");
    await log().getByText("rather this").waitFor();
    assert.equal(await log().getByText("Queued").count(), 0);
    held.resolve();
    await log().getByText("I heard the second.").waitFor();
    await settled();
    await page.getByRole("status").filter({ hasText: "The answer is ready." }).waitFor();
  });

  test("a second click on Send does not stop what it began", async () => {
    const held = Promise.withResolvers<void>();
    await page.goto(server.url);
    answers = [[{ text: "at it" }, { gate: () => held.promise }, { text: ", done" }]];
    await field().fill("go");
    const { x, y, width, height } = (await page.getByRole("button", { name: "Send" }).boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down({ clickCount: 1 });
    await page.mouse.up({ clickCount: 1 });
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await log().getByText("at it").waitFor();
    held.resolve();
    await log().getByText("at it, done").waitFor();
    await settled();
  });

  test("nobody complains", () => assert.deepEqual(browser.complaints(), []));
});
