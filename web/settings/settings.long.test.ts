import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { loadConfig } from "../../src/config/load.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import { createApiKey } from "../../src/store/people/api-keys.ts";
import { type OpenBrowser, openBrowser, skipBrowser, untilTrue, violationsOf } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";

const password = "correct horse";

describe("the settings, with accounts", { skip: skipBrowser }, () => {
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
    };
    server = await startColloquy(loadConfig({ env, cwd: temporaryFolder("settings") }), { log: silentLog });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/login`, { viewport: { width: 1200, height: 800 } });
    const token = (await server.setupLink())?.split("#")[1];
    await send("auth/setup", { token, username: "root", password });
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  /** As this browser, which keeps the cookie. */
  async function send(what: string, data: object, cookie = true): Promise<Record<string, string>> {
    const headers = { "x-colloquy-page": "1" };
    const answer = await page.request.post(`${server.url}/api/${what}`, {
      data: cookie ? { ...data, cookie } : data,
      headers,
    });
    assert.ok(answer.ok(), await answer.text());
    return (await answer.json()) as Record<string, string>;
  }
  async function goTo(section: string, heading: string): Promise<void> {
    await page.goto(`${server.url}/settings${section}`);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  }
  async function findsNothing(state: string): Promise<void> {
    assert.deepEqual(await violationsOf(page), [], state);
  }

  test("a key is made, told once, counts, and is revoked", async () => {
    await goTo("/access", "Access");
    await page.getByText("No API keys").waitFor();
    await page.getByText("No shared links").waitFor();
    await findsNothing("empty");
    await page.getByLabel("Label").fill("laptop");
    await page.getByLabel("Expires after (days)").fill("99999");
    await page.keyboard.press("Enter");
    await page.getByRole("form", { name: "Create key" }).getByRole("alert").waitFor();
    assert.equal(await page.getByLabel("Label").inputValue(), "laptop");
    await findsNothing("refused");
    await page.getByLabel("Scopes", { exact: true }).fill("agents:assistant");
    await page.getByLabel("Expires after (days)").fill("30");
    await page.keyboard.press("Enter");
    const key = await page.getByText(/^ck_/).innerText();
    const me = await fetch(`${server.url}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(((await me.json()) as { username: string }).username, "root");
    await findsNothing("a key");
    await page.getByRole("button", { name: "Revoke: laptop" }).click();
    await page.getByText("revoked").waitFor();
    const late = await fetch(`${server.url}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(late.status, 401);
  });

  test("an old key is given scopes: it says until when it may all, may what is chosen from then on, and loses its end", async () => {
    const me = await page.request.get(`${server.url}/api/auth/me`);
    const { id: userId } = (await me.json()) as { id: string };
    const { key, text } = await createApiKey(server.database.query, { userId, label: "old laptop", scopes: ["*"] });
    // As keys of before stand after the update.
    await server.database.query(
      "update api_keys set scopes = null, unscoped_until = now() + interval '89 days' where id = $1",
      [key.id],
    );
    const statusOf = async (path: string) =>
      (await fetch(server.url + path, { headers: { authorization: `Bearer ${text}` } })).status;
    assert.equal(await statusOf("/api/threads"), 200);
    await goTo("/access", "Access");
    const row = page.getByRole("row", { name: /old laptop/ });
    await row.getByText(/^all your permissions until .*; then it expires, unless you choose scopes$/).waitFor();
    await findsNothing("an old key");
    const form = row.getByRole("form", { name: "Choose scopes: old laptop" });
    await form.getByLabel("Scopes", { exact: true }).fill("agent_assistant");
    await page.keyboard.press("Enter");
    await form
      .getByRole("alert")
      .getByText(/Did you mean agents:assistant\?/)
      .waitFor();
    await findsNothing("mistyped");
    assert.equal(await statusOf("/api/threads"), 200, "nothing has changed");
    await form.getByLabel("Scopes", { exact: true }).fill("agents:assistant, usage:read");
    await page.keyboard.press("Enter");
    await row.getByText("agents:assistant usage:read", { exact: true }).waitFor();
    assert.equal(await row.getByRole("form").count(), 0);
    assert.equal(await row.getByText(/until/).count(), 0);
    assert.deepEqual([await statusOf("/api/threads"), await statusOf("/api/usage")], [403, 200]);
    await row.getByRole("button", { name: "Revoke: old laptop" }).click();
    await row.getByText("revoked").waitFor();
  });

  test("what is shared is listed with its thread, and withdrawn", async () => {
    const { id } = await send("threads", { title: "Plans for spring" }, false);
    await send(`threads/${id}/runs`, { agent: "assistant", message: { content: "hello" } }, false);
    await send(`threads/${id}/shares`, { days: 3 }, false);
    await goTo("/access", "Access");
    await page.getByRole("link", { name: "Plans for spring" }).first().waitFor();
    await findsNothing("shared");
    await page.getByRole("button", { name: "Revoke: Plans for spring" }).click();
    await page.getByText("No shared links").waitFor();
  });

  test("what one may spend and has used", async () => {
    const user = await page.request.get(`${server.url}/api/auth/me`);
    const { id } = (await user.json()) as { id: string };
    const answer = await page.request.put(`${server.url}/api/admin/budgets`, {
      data: { user: id, period: "day", requests: 4 },
      headers: { "x-colloquy-page": "1" },
    });
    assert.ok(answer.ok(), await answer.text());
    await goTo("/use", "Usage");
    await page.getByText(/Requests: \d of 4/).waitFor();
    await page.getByRole("rowheader", { name: "demo" }).waitFor();
    await findsNothing("use");
    await page.getByLabel("By").selectOption("day");
    assert.match(page.url(), /by=day/);
    await page.getByRole("columnheader", { name: "Day" }).waitFor();
  });

  test("a new password ends the other logins; whoever logs out is at the login", async () => {
    await fetch(`${server.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "a telephone" },
      body: JSON.stringify({ username: "root", password }),
    });
    await goTo("/account", "Account");
    await page.getByRole("rowheader", { name: "a telephone" }).waitFor();
    await findsNothing("account");
    await page.getByLabel("Current password").fill("wrong horse");
    await page.getByLabel("New password").fill("better horse");
    await page.keyboard.press("Enter");
    await page.getByRole("form", { name: "Password" }).getByRole("alert").waitFor();
    await page.getByLabel("Current password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByText("Password changed.").waitFor();
    await page.reload();
    await page.getByText("this one").waitFor();
    assert.equal(await page.getByRole("rowheader", { name: "a telephone" }).count(), 0);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    assert.match((await download).suggestedFilename(), /^colloquy-.*\.tar\.gz$/);
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    // What was wrong is said, and whoever works with keys is where they were.
    await page.getByLabel("Name").fill("root");
    await page.getByLabel("Password").fill("worse horse");
    await page.getByRole("button", { name: "Log in" }).press("Enter");
    await page.getByRole("alert").getByText(/\S/).waitFor();
    await untilTrue(page, `document.activeElement.localName === "button"`);
    await send("auth/login", { username: "root", password: "better horse" });
  });

  test("keys are changed by pressing them; those that are taken say by what", async () => {
    await goTo("/shortcuts", "Keyboard shortcuts");
    const row = page.getByRole("row", { name: /Search conversations/ });
    await row.getByRole("button", { name: /^Change/ }).press("Enter");
    await page.getByRole("button", { name: /Press the keys/ }).waitFor();
    await findsNothing("pressing");
    await page.keyboard.press("Control+t");
    await row.getByText("The browser reserves these keys.").waitFor();
    await page.keyboard.press("Control+c");
    await row.getByText("needed for writing").waitFor();
    await page.keyboard.press("Control+b");
    await row.getByText("Already used for: Collapse or expand the sidebar.").waitFor();
    await page.keyboard.press("Control+Shift+H");
    await row.getByRole("button", { name: /^Reset/ }).waitFor();
    await page.locator("button[aria-label^='Change: Search']:focus").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Control+Shift+H");
    await page.locator("[type=search]:focus").waitFor();
    await row.getByRole("button", { name: /^Turn off/ }).click();
    await row.getByText("off", { exact: true }).waitFor();
    await page.reload();
    await row.getByText("off", { exact: true }).waitFor();
    await findsNothing("shortcuts");
    await page.getByRole("button", { name: "Reset all" }).click();
    await row.getByText("/", { exact: true }).waitFor();
  });

  test("Ctrl+Enter sends, and Enter breaks the line, for whoever wants it so", async () => {
    await goTo("", "General");
    await page.getByLabel("Send messages with").selectOption("ctrl");
    await findsNothing("general");
    await page.goto(server.url);
    const message = page.getByRole("textbox", { name: "Message" });
    await message.fill("one");
    await message.press("Enter");
    await page.keyboard.type("two");
    assert.equal(await message.inputValue(), "one\ntwo");
    await message.press("Control+Enter");
    await page.getByRole("log").getByText("two").first().waitFor();
  });

  test("on a phone, in the dark, in German: each section, from one to the next", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: "dark" });
    await goTo("", "General");
    await page.getByRole("combobox", { name: "Language" }).selectOption("de");
    for (const name of ["Tastenkürzel", "Zugriff", "Nutzung", "Konto", "Allgemein"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      if (name === "Tastenkürzel")
        await page
          .locator("kbd", { hasText: /^Strg$/ })
          .first()
          .waitFor();
      await findsNothing(name);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
    }
    assert.equal(await page.evaluate("document.documentElement.lang"), "de");
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 4\d\d/.test(text)),
      [],
    );
  });
});
