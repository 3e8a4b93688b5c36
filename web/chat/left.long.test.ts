import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, type PageServing, servePage, skipBrowser } from "../../test/browser.ts";

describe("a conversation that one has left", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let count = 0;
  before(async () => {
    server = await servePage(() => `answer ${++count}`);
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 }, serviceWorkers: "block" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = () => page.getByRole("log");
  const list = () => page.getByRole("navigation", { name: "Conversations" });
  const lists = () => page.waitForResponse(/\/api\/threads\?/).then((response) => response.finished());
  /** Shown after the list that was asked for when it was left. */
  async function nothingIsNew(state: string): Promise<void> {
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))");
    assert.equal(await list().getByRole("link", { name: /new$/ }).count(), 0, state);
  }

  test("is not new, whatever was done in it", async () => {
    await page.getByRole("textbox", { name: "Message" }).fill("which?");
    await page.keyboard.press("Enter");
    await log().getByText("answer 1").waitFor();
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await log().getByText("answer 2").waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    await page.getByRole("button", { name: "Previous version" }).click();
    await log().getByText("answer 1").waitFor();
    const left = lists();
    await page.getByRole("link", { name: "Tasks" }).click();
    await left;
    await nothingIsNew("another version was chosen");

    await list().getByRole("link", { name: "which?" }).click();
    await page.getByRole("button", { name: "Previous version" }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Next version" }).click();
    await log().getByText("answer 2").waitFor();
    await page.getByRole("button", { name: "Fork from here" }).last().click();
    await list().getByRole("link", { name: "which? (2)" }).waitFor();
    const again = lists();
    await page.getByRole("link", { name: "Tasks" }).click();
    await again;
    await nothingIsNew("it went on elsewhere");
  });

  test("in one that is found by keys the message field has the focus", async () => {
    await list().getByRole("searchbox").fill("which? (2)");
    await list().getByRole("link", { name: "which?", exact: true }).waitFor({ state: "detached" });
    await list().getByRole("link", { name: "which? (2)" }).waitFor();
    await list().getByRole("searchbox").press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "which? (2)" }).waitFor();
    await page.locator("[data-composer]:focus").waitFor();
    await list().getByRole("searchbox").fill("");
    await list().getByRole("link", { name: "which?", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "which?", exact: true }).waitFor();
    await page.locator("[data-composer]:focus").waitFor();
  });

  test("nor is one whose answer was watched until the page was loaded anew", async () => {
    await list().getByRole("button", { name: "New conversation" }).click();
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/threads\?/, async (route) => {
      await held.promise;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole("textbox", { name: "Message" }).fill("watched");
    await page.keyboard.press("Enter");
    await log().getByText("answer 3").waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    held.resolve();
    await page.unroute(/\/api\/threads\?/);
    await page.goto(`${server.url}/tasks`);
    await list()
      .getByRole("link", { name: /^watched/ })
      .waitFor();
    await nothingIsNew("the page was loaded anew");
  });

  test("nobody complains", () =>
    assert.deepEqual(
      browser.complaints().filter((text) => !text.includes("blocked by Playwright")),
      [],
    ));
});
