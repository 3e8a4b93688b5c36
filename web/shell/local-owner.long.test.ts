import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { loadConfig } from "../../src/config/load.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import { type OpenBrowser, openBrowser, sayOn, skipBrowser } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";

const cli = join(import.meta.dirname, "../../src/cli.ts");

describe("the owner's browser, in local mode", { skip: skipBrowser }, () => {
  let browser: OpenBrowser;
  const stops: (() => Promise<void>)[] = [];
  before(async () => {
    buildPage();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    for (const stop of stops) await stop();
  });

  async function start(local: string): Promise<{ server: Colloquy; env: Record<string, string>; cwd: string }> {
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: await freshDataDirectory(),
      COLLOQUY_SECRET: "a secret of these tests",
      COLLOQUY_PROBE: "false",
      COLLOQUY_TITLES: "first-words",
      COLLOQUY_PORT: "0",
      COLLOQUY_AUTH__LOCAL: local,
    };
    const cwd = temporaryFolder("owner");
    const server = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
    stops.push(server.stop);
    return { server, env, cwd };
  }

  /** Another server on this machine, with an empty page; what browsers have sent it. */
  async function startOther(port: number): Promise<{ url: string; sent: IncomingHttpHeaders[] }> {
    const sent: IncomingHttpHeaders[] = [];
    const other = createServer(({ headers }, response) => {
      sent.push(headers);
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>other</title><p>other</p>");
    });
    await listening(other, port);
    stops.push(async () => {
      other.closeAllConnections();
      other.close();
    });
    return { url: `http://localhost:${(other.address() as AddressInfo).port}`, sent };
  }

  const asksOnly = (page: Page) => page.getByText("This browser can chat only.");
  const fetched = (page: Page, url: string, init: object = {}) =>
    page.evaluate(
      async ([address, given]) => {
        try {
          const { status, type } = await fetch(address, given);
          return type === "opaque" ? "opaque" : status;
        } catch {
          return "unreadable";
        }
      },
      [url, init] as const,
    );

  test("a page of another origin asks where that is open, and gets nothing of owning", async () => {
    const { server } = await start("auto");
    const at = server.url.replace("127.0.0.1", "localhost");
    const settings = (page: Page) => fetched(page, `${at}/api/admin/settings`);
    const own = await browser.open(at);
    assert.equal(await settings(own), 200, "the page of the server itself owns without a link");
    assert.equal(await asksOnly(own).count(), 0);

    const program = { id: "mine", definition: { command: "id" }, confirm: "id" };
    const post = (body: object) => ({ method: "POST", body: JSON.stringify(body) });
    const json = { headers: { "content-type": "application/json" } };
    const question = { ...post({ messages: [{ role: "user", content: "hi" }] }), ...json, credentials: "include" };
    // Port 3000 may be somebody else's here.
    const known = await startOther(3000).catch(() => undefined);
    for (const [other, mayAsk] of [
      [known, true],
      [await startOther(0), false],
    ] as const) {
      if (!other) continue;
      const page = await browser.open(other.url);
      assert.equal(await fetched(page, `${at}/chat`, question), mayAsk ? 200 : "unreadable", other.url);
      for (const path of ["/api/threads", "/api/admin/settings", "/api/auth/keys", "/api/questions"])
        assert.equal(await fetched(page, at + path, { credentials: "include" }), "unreadable", path);
      await fetched(page, `${at}/api/admin/mcp-servers`, { ...post(program), ...json });
      // What needs no leave to be sent, and whose answer no page may read.
      for (const path of ["/api/admin/mcp-servers", "/api/auth/keys", "/api/auth/open-codes", "/api/threads"])
        await fetched(page, at + path, { ...post(program), mode: "no-cors", credentials: "include" });
    }
    for (const path of ["/api/admin/mcp-servers", "/api/auth/keys", "/api/threads?limit=50"]) {
      const answer = await own.evaluate(async (address) => (await fetch(address)).text(), at + path);
      assert.doesNotMatch(answer, /"mine"|"label"|"command"/, path);
    }
  });

  test("a link lets one browser in, whose key no other server is sent, until it is taken back", async () => {
    const { server, env, cwd } = await start("token");
    const before = await browser.open(server.url);
    await asksOnly(before).waitFor();
    await before.getByText("./colloquy open", { exact: true }).waitFor();
    assert.equal(await fetched(before, `${server.url}/api/threads`), 403);
    await sayOn(before, "hi");
    await before.getByText("demo", { exact: false }).first().waitFor();

    const { stdout } = await promisify(execFile)(process.execPath, [cli, "open"], { env, cwd });
    const link = stdout.trim();
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#open=[\w-]{60,}$/);
    const page = await browser.open(link);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    assert.equal(await asksOnly(page).count(), 0);
    assert.doesNotMatch(page.url(), /open=/);
    await page.goto(`${server.url}/settings`);
    await page.getByRole("link", { name: "Account" }).first().click();
    const row = page.getByRole("row").filter({ hasText: "this" });
    await row.waitFor();

    const other = await startOther(0);
    await page.goto(other.url.replace("localhost", "127.0.0.1"));
    const secret = /colloquy|cb_|bearer/i;
    for (const headers of other.sent)
      assert.doesNotMatch(JSON.stringify([headers.cookie, headers.authorization]), secret);
    assert.deepEqual(await page.context().cookies(), []);

    const late = await browser.open(link);
    await asksOnly(late).waitFor();

    await page.goto(server.url);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    const headers = { authorization: `Bearer ${server.token}` };
    const logins = (await (await fetch(`${server.url}/api/auth/sessions`, { headers })).json()) as {
      data: { id: string }[];
    };
    assert.equal(logins.data.length, 1);
    await fetch(`${server.url}/api/auth/sessions/${logins.data[0]!.id}`, { method: "DELETE", headers });
    await page.goto(`${server.url}/tasks`);
    await asksOnly(page).waitFor();
  });
});

async function listening(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
}
