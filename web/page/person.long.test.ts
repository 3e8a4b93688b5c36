import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser, untilTrue } from "../../test/browser.ts";
import { type PageWorld, servePageWorld } from "../../test/page-world/page-world.ts";

describe("whose the page is", { skip: skipBrowser }, () => {
  let world: PageWorld;
  let browser: OpenBrowser;
  before(async () => {
    world = await servePageWorld();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await world.close();
  });

  const ofAda = "What we pay for green coffee";
  /** A tab of hers that shows what is hers, in a browser where she alone was. */
  async function hers(): Promise<{ readonly tab: Page; readonly context: BrowserContext }> {
    const tab = await browser.open(world.url, { storageState: await world.browserOf("ada") });
    await tab.goto(`${world.url}/knowledge`);
    await tab.getByText(ofAda).first().waitFor();
    await untilTrue(tab, `Object.values(localStorage).includes(${JSON.stringify(world.people["ada"])})`);
    await tab.evaluate(
      `sessionStorage.setItem("colloquy-taiga-login", "{}"), localStorage.setItem("colloquy-own-taiga-draft", "minutes")`,
    );
    return { tab, context: tab.context() };
  }
  const kept = (tab: Page) =>
    tab.evaluate(`[sessionStorage.getItem("colloquy-taiga-login"), localStorage.getItem("colloquy-own-taiga-draft")]`);
  const changeLogin = async (context: BrowserContext) => {
    const { cookies } = await world.browserOf("fresh");
    await context.addCookies(cookies);
  };

  async function isSeenByFresh(tab: Page): Promise<void> {
    await tab.getByRole("button", { name: /^Account.*fresh/ }).waitFor();
    assert.equal(await tab.getByText(ofAda).count(), 0);
    assert.deepEqual(await kept(tab), [null, null]);
  }

  test("a logout in another tab takes it from the screen, and what this browser kept for its person", async () => {
    const { tab, context } = await hers();
    const other = await context.newPage();
    await other.goto(world.url);
    await other.getByRole("button", { name: /^Account/ }).click();
    await other.getByRole("menuitem", { name: "Log out" }).click();
    await Promise.all([other, tab].map((each) => each.waitForURL(/\/login/)));
    await changeLogin(context);
    for (const each of [other, tab]) {
      await each.goto(`${world.url}/knowledge`);
      await isSeenByFresh(each);
    }
    await context.close();
  });

  test("somebody else who logs in, without a logout, finds nothing of the one before in any tab", async () => {
    const { tab, context } = await hers();
    await changeLogin(context);
    const other = await context.newPage();
    await other.goto(`${world.url}/knowledge`);
    for (const each of [tab, other]) await isSeenByFresh(each);
    await context.close();
  });

  test("a page that the way back leads to is not shown to somebody else", async () => {
    const { tab, context } = await hers();
    await changeLogin(context);
    // As another tab does while this one is kept aside, where it hears of nothing.
    const isHidden = await tab.evaluate(`(() => {
      const [key] = Object.entries(localStorage).find(([, value]) => value === ${JSON.stringify(world.people["ada"])});
      localStorage.setItem(key, "somebody else");
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      return document.documentElement.hidden;
    })()`);
    assert.equal(isHidden, true);
    await isSeenByFresh(tab);
    await context.close();
  });

  test("whoever logs in again finds what they wrote", async () => {
    const { tab, context } = await hers();
    await tab.reload();
    await tab.getByText(ofAda).first().waitFor();
    assert.deepEqual(await kept(tab), ["{}", "minutes"]);
    await context.close();
  });
});
