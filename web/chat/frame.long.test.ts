import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { buildPage } from "../../test/build-page.ts";
import { type ServerProcess, startServerProcess } from "../../test/server-process.ts";

describe("a server that goes away", { skip: skipBrowser }, () => {
  const cwd = temporaryFolder("frame");
  let server: ServerProcess;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    buildPage();
    server = await startServerProcess({ cwd, env: {} });
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.end("SIGKILL");
  });

  const log = () => page.getByRole("log");
  const field = () => page.getByRole("textbox", { name: "Message" });

  test("the loss is told, what is typed stays, and it goes on when the server is back", async () => {
    const { port } = new URL(server.url);
    await field().fill("What is 17 * 23?");
    await page.keyboard.press("Enter");
    await log().getByText("391").first().waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();

    await server.end("SIGKILL");
    await page.getByRole("status").filter({ hasText: "Connection lost. Reconnecting…" }).waitFor();
    await page.getByText(/Reconnecting · \d+ s/).waitFor();
    await field().fill("What is 6 * 7?");
    await page.keyboard.press("Enter");
    await log().getByRole("alert").filter({ hasText: "Not sent: Can't reach the server." }).waitFor();
    assert.equal(await field().inputValue(), "What is 6 * 7?");
    assert.deepEqual(await violationsOf(page), []);

    server = await startServerProcess({ cwd, env: { COLLOQUY_PORT: port } });
    await page.getByRole("status").filter({ hasText: "Reconnected." }).waitFor();
    await log().getByText("Not sent yet. The server is back.").waitFor();
    await log().getByRole("button", { name: "Send again" }).click();
    await log().getByText("42", { exact: true }).first().waitFor();
    assert.equal(await field().inputValue(), "");
    assert.equal(await log().getByRole("alert").count(), 0);
  });

  test("complains of nothing but the server that was away", () => {
    const others = browser
      .complaints()
      .filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_FAILED/.test(text));
    assert.deepEqual(others, []);
  });
});
