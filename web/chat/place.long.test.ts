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
  untilTrue,
} from "../../test/browser.ts";
import { createClient } from "../../src/client/client.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

describe("where one is in a conversation", { skip: skipBrowser }, () => {
  let answers: ScriptAnswer[] = [];
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 }, serviceWorkers: "block" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const lines = Array.from({ length: 80 }, (_, at) => `line ${at}`).join("\n\n");
  const log = () => page.getByRole("log");
  const say = (text: string) => sayOn(page, text);
  const settled = () => page.locator("[role=log][aria-busy=false]").waitFor();

  test("what is opened is read at its end, and what one says is seen wherever one was", async () => {
    for (const text of ["a long answer", "one more"]) {
      answers = [`${lines}\n\nthe end of ${text}`];
      await say(text);
      await log().getByText(`the end of ${text}`).waitFor();
      await settled();
    }
    const isAtEnd = `(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight > 2 * clientHeight && scrollHeight - scrollTop - clientHeight < 2)(document.querySelector("[role=log]").parentElement)`;
    await page.getByRole("navigation", { name: "Conversations" }).getByRole("button", { name: "New conv" }).click();
    await page.goBack();
    await log().getByText("the end of one more").waitFor();
    await untilTrue(page, isAtEnd);
    await page.evaluate(`document.querySelector("[role=log]").parentElement.scrollTop = 0`);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route("**/api/threads/*/runs", async (route) => {
      await held.promise;
      await route.continue();
    });
    answers = ["Said below."];
    await say("seen at once");
    await untilTrue(page, isAtEnd);
    held.resolve();
    await log().getByText("Said below.").waitFor();
    await settled();
    await untilTrue(page, isAtEnd);
    await page.unroute("**/api/threads/*/runs");
  });

  test("that something new is below is said only where it is", async () => {
    const [jump, news] = ["Jump to latest", "New messages"].map((name) => page.getByRole("button", { name }));
    const scroller = `document.querySelector("[role=log]").parentElement`;
    await page.evaluate(`${scroller}.scrollTop = 0`);
    await jump!.waitFor();
    await page.setViewportSize({ width: 1000, height: 700 });
    await untilTrue(page, `${scroller}.clientWidth < 800`);
    await page.setViewportSize({ width: 1200, height: 800 });
    await untilTrue(page, `${scroller}.clientWidth > 800`);
    assert.equal(await news!.count(), 0, "read above, in a window of another size");
    const client = createClient({ url: server.url });
    answers = ["Said by another."];
    const { id } = await client.startRun(page.url().split("/").at(-1)!, { agent: "assistant", content: "something" });
    for await (const _ of client.follow(id));
    await news!.waitFor();
    assert.equal(await jump!.count(), 0);
    await news!.click();
    await news!.waitFor({ state: "detached" });
    await log().getByText("Said by another.").waitFor();
    await page.evaluate(`${scroller}.scrollTop = 0`);
    await jump!.waitFor();
    assert.equal(await news!.count(), 0, "it was seen");
    await jump!.click();
    await jump!.waitFor({ state: "detached" });
  });

  test("what is pressed does not move away while something is said", async () => {
    const held = Promise.withResolvers<void>();
    answers = [[{ text: "Slowly" }, { gate: () => held.promise }, { text: lines }, { text: "\n\nthat was it" }]];
    const other = await browser.open(page.url(), { serviceWorkers: "block" });
    await say("many lines");
    await log().getByText("Slowly").waitFor();
    const link = log().getByRole("link", { name: "Run" }).last();
    await link.hover();
    await page.mouse.down();
    const place = await link.boundingBox();
    held.resolve();
    await other.getByRole("log").getByText("that was it").waitFor();
    assert.deepEqual(await link.boundingBox(), place);
    await page.mouse.move(600, 20);
    await page.mouse.up();
    await log().getByText("that was it").waitFor();
    await settled();
    await other.close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/blocked by Playwright/.test(text)),
      [],
    );
  });
});
