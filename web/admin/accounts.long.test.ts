import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { loadConfig } from "../../src/config/load.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import { type OpenBrowser, openBrowser, skipBrowser } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";

describe("the administration, with accounts", { skip: skipBrowser }, () => {
  let server: Colloquy;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    buildPage();
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: await freshDataDirectory(),
      COLLOQUY_SECRET: "a secret of these tests",
      COLLOQUY_PROBE: "false",
      COLLOQUY_TITLES: "first-words",
      COLLOQUY_PORT: "0",
      COLLOQUY_AUTH__MODE: "accounts",
      COLLOQUY_AUTH__SIGNUP: "open",
    };
    server = await startColloquy(loadConfig({ env, cwd: temporaryFolder("accounts") }), { log: silentLog });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/login`);
    const token = (await server.setupLink())?.split("#")[1];
    await send("setup", { token, username: "root", password });
    await send("signup", { username: "eve", password });
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  const password = "correct horse";
  /** As this browser, which keeps the cookie. */
  async function send(what: string, body: object): Promise<void> {
    const answer = await page.request.post(`${server.url}/api/auth/${what}`, {
      data: { ...body, cookie: true },
      headers: { "x-colloquy-page": "1" },
    });
    assert.ok(answer.ok(), await answer.text());
  }

  test("who is none of the admins is not led there, and told so", async () => {
    await send("login", { username: "eve", password });
    const known = page.waitForResponse(/api\/auth\/me/);
    await page.goto(server.url);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await known;
    assert.equal(await page.getByRole("link", { name: "Administration" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "Connect a model" }).count(), 0);
    await page.goto(`${server.url}/admin/people`);
    await page.getByText("Only admins can view this page.").waitFor();
  });

  test("links for people, which stand there once; the owner stays an admin", async () => {
    await send("login", { username: "root", password });
    await page.goto(`${server.url}/admin/people`);
    const more = async (person: string, deed: string) => {
      await page.getByRole("button", { name: `More: ${person}` }).click();
      await page.getByRole("menuitem", { name: deed }).click();
    };
    await more("eve", "Reset password…");
    await page.getByText(/\/reset#/).waitFor();
    await page.getByText("Invitations (0 open)").click();
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByText(/\/signup#/).waitFor();
    await page.getByText("Invitations (1 open)").waitFor();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Invitations (0 open)").waitFor();
    await more("root", "Make user");
    await page.getByRole("alert").getByText("The owner must stay an admin").waitFor();
    const download = page.waitForEvent("download");
    await more("eve", "Export data");
    assert.match((await download).suggestedFilename(), /^colloquy-.*\.tar\.gz$/);
  });
});
