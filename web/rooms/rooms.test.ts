import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { buildPage } from "../../test/build-page.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { type ServerProcess, startServerProcess } from "../../test/server-process.ts";

describe("rooms", { skip: skipBrowser }, () => {
  let server: ServerProcess;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    buildPage();
    const folder = temporaryFolder("rooms-page");
    server = await startServerProcess({ cwd: folder, env: { COLLOQUY_DATA: `${folder}/data` } });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/rooms`, { viewport: { width: 1280, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.end("SIGTERM");
  });

  const log = () => page.getByRole("log");
  const field = () => page.getByRole("combobox", { name: "Message" });

  test("one is begun, and whoever is called answers", async () => {
    await page.getByRole("heading", { name: "Rooms" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole("button", { name: /Analysis/ }).click();
    await page.waitForURL(/\/rooms\/[0-9a-f-]{36}$/);
    await page.getByRole("complementary", { name: "Members" }).getByText("@reviewer").waitFor();
    await page.getByRole("complementary").getByText("here").waitFor();

    await field().fill("Hey @");
    await page.keyboard.press("End");
    await page.keyboard.type("d");
    await page.getByRole("option", { name: "@data" }).waitFor();
    assert.equal(await field().getAttribute("aria-expanded"), "true");
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press("Tab");
    assert.equal(await field().inputValue(), "Hey @data ");
    await page.keyboard.type("help me");
    await page.keyboard.press("Enter");
    await log().getByText("Hey @data help me").waitFor();
    await log().getByText('You said: "[user]: Hey data help me"').waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    assert.equal(await field().inputValue(), "");
  });

  test("another tab sees the same, and a new chapter begins", async () => {
    const other = await browser.open(page.url(), { colorScheme: "dark", viewport: { width: 360, height: 740 } });
    await other.getByRole("log").getByText("Hey @data help me").waitFor();
    assert.deepEqual(await violationsOf(other), []);
    assert.equal(await other.evaluate("document.documentElement.scrollWidth"), 360);
    await page.getByRole("button", { name: "Begin a new chapter" }).click();
    await other.getByText("A new chapter begins").waitFor();
    await other.close();
  });

  test("it is listed, and goes with all in it", async () => {
    const room = page.url();
    await page.goto(`${server.url}/rooms`);
    await page
      .getByRole("main")
      .getByRole("link", { name: /^Analysis/ })
      .waitFor();
    await page.goto(room);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("complementary", { name: "Members" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Begin a room" }).waitFor();
    assert.equal(
      await page
        .getByRole("main")
        .getByRole("link", { name: /^Analysis/ })
        .count(),
      0,
    );
    assert.deepEqual(browser.complaints(), []);
  });
});
