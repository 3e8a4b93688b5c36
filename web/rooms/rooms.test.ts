import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { buildPage } from "../../test/build-page.ts";
import { agree, type OpenBrowser, openBrowser, skipBrowser, untilTrue, violationsOf } from "../../test/browser.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { until } from "../../test/run-suite.ts";
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
    // What a service worker lets through, Playwright may not see.
    const look = { viewport: { width: 1280, height: 800 }, serviceWorkers: "block" } as const;
    page = await browser.open(`${server.url}/rooms`, look);
  });
  after(async () => {
    await browser.close();
    await server.end("SIGTERM");
  });

  const log = () => page.getByRole("log");
  /** Whose room is gone may have asked for it once more before leaving it. */
  const complaints = () =>
    browser.complaints().filter((text) => !/status of 404|ERR_CONNECTION_RESET|blocked by Playwright/.test(text));
  const field = () => page.getByRole("combobox", { name: "Message" });

  test("one is begun, and whoever is called answers", async () => {
    await page.getByRole("heading", { name: "Rooms" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const form = page.getByRole("form", { name: "New room" });
    await form.getByRole("checkbox", { name: /^@data/, checked: true }).waitFor();
    await form.getByRole("button", { name: "Create room" }).click();
    await page.waitForURL(/\/rooms\/[0-9a-f-]{36}$/);
    await log().getByText("No messages yet").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole("complementary", { name: "Members" }).getByText("@reviewer").waitFor();
    await page.getByRole("complementary").getByText("online").waitFor();

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
    assert.equal(await log().getByText("No messages yet").count(), 0);
    await log().getByText("I follow rules and understand little").first().waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    assert.equal(await field().inputValue(), "");
  });

  test("an answer that got lost on its way says nothing twice", async () => {
    await page.route("**/api/rooms/*/messages", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await field().fill("said once");
    await page.keyboard.press("Enter");
    await page.getByRole("main").getByRole("alert").waitFor();
    await untilTrue(page, "document.querySelector('[data-composer]').value === 'said once'");
    await page.unroute("**/api/rooms/*/messages");
    await page.keyboard.press("Enter");
    await untilTrue(page, "document.querySelector('[data-composer]').value === ''");
    await page.locator("[role=log][aria-busy=false]").waitFor();
    const { id } = await server.client.rooms.get(new URL(page.url()).pathname.split("/").at(-1)!);
    const said = await server.client.rooms.messages(id, { order: "desc", limit: 50 });
    assert.equal(said.filter((item) => item.kind === "message" && item.body.content === "said once").length, 1);
  });

  test("who is in it stays right when an older answer comes late", async () => {
    const members = page.getByRole("complementary", { name: "Members" });
    const held = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const isRead = /\/api\/rooms\/[0-9a-f-]{36}$/;
    let count = 0;
    await page.route(isRead, async (route) => {
      if (route.request().method() !== "GET" || count++ > 0) return route.continue();
      const response = await route.fetch();
      isHeld.resolve();
      await held.promise;
      return route.fulfill({ response });
    });
    await members.getByRole("button", { name: "Remove @code" }).click();
    await isHeld.promise;
    await members.getByRole("button", { name: "Remove @reviewer" }).click();
    await members.getByRole("button", { name: "Remove @reviewer" }).waitFor({ state: "detached" });
    const late = page.waitForResponse((response) => isRead.test(response.url()));
    held.resolve();
    await (await late).finished();
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))");
    assert.equal(await members.getByRole("button", { name: "Remove @reviewer" }).count(), 0);
    await page.unroute(isRead);
  });

  test("another tab sees the same, and a new chapter begins", async () => {
    const other = await browser.open(page.url(), { colorScheme: "dark", viewport: { width: 360, height: 740 } });
    await other.getByRole("log").getByText("Hey @data help me").waitFor();
    assert.deepEqual(await violationsOf(other), []);
    assert.equal(await other.evaluate("document.documentElement.scrollWidth"), 360);
    await page.getByRole("button", { name: "Start a new chapter" }).click();
    await other.getByText("New chapter: agents don't see earlier messages.").waitFor();
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
    const message = page.getByRole("combobox", { name: "Message" });
    await message.fill("half a thought");
    await page.reload();
    await until(async () => (await message.inputValue()) === "half a thought");
    await page.getByRole("complementary", { name: "Members" }).getByRole("button", { name: "Delete" }).click();
    await agree(page, "Delete");
    await page.getByRole("heading", { name: "New room" }).waitFor();
    assert.equal(
      await page
        .getByRole("main")
        .getByRole("link", { name: /^Analysis/ })
        .count(),
      0,
    );
    assert.deepEqual(complaints(), []);
  });

  test("agents are chosen, come in and are taken out", async () => {
    const phone = { viewport: { width: 360, height: 740 }, colorScheme: "dark" } as const;
    const small = await browser.open(`${server.url}/rooms`, phone);
    const form = small.getByRole("form", { name: "New room" });
    await form.getByLabel("Kind").selectOption("");
    const assistant = form.getByRole("checkbox", { name: /^@assistant/ });
    await form.getByRole("checkbox", { name: /^@assistant/, checked: true }).uncheck();
    await form.getByRole("button", { name: "Create room" }).click();
    await form.getByRole("alert").getByText("Choose at least one agent.").waitFor();
    assert.equal(await form.getByRole("checkbox", { name: /^@analysis/ }).count(), 0);
    await assistant.check();
    assert.equal(await form.getByLabel("When @assistant listens").inputValue(), "always");
    await form.getByRole("checkbox", { name: /^@coder/ }).check();
    assert.equal(await form.getByLabel("When @coder listens").inputValue(), "mention");
    await form.getByLabel("When @assistant listens").selectOption("mention");
    await form.getByText("None of these agents is always listening").waitFor();
    await form.getByLabel("Name").fill("Release");
    assert.deepEqual(await violationsOf(small), []);
    assert.equal(await small.evaluate("document.documentElement.scrollWidth"), 360);
    await form.getByRole("button", { name: "Create room" }).click();
    await small.getByRole("heading", { name: "Release" }).waitFor();
    const said = small.getByRole("log");
    await said.getByText("@coder", { exact: true }).waitFor();
    await said.getByText("None of these agents is always listening").waitFor();
    assert.deepEqual(await violationsOf(small), []);

    await small.getByRole("button", { name: "Members", exact: true }).click();
    const panel = small.getByRole("complementary", { name: "Members" });
    const letIn = panel.getByRole("form", { name: "Add an agent" });
    await letIn.getByLabel("Add an agent").selectOption("researcher");
    await letIn.getByLabel("When @researcher listens").selectOption("always");
    await letIn.getByRole("button", { name: "Invite" }).click();
    await panel.getByRole("button", { name: "Remove @researcher" }).waitFor();
    await panel.getByRole("listitem").filter({ hasText: "@researcher" }).getByText("always listening").waitFor();
    assert.deepEqual(await violationsOf(small), []);
    assert.equal(await small.evaluate("document.documentElement.scrollWidth"), 360);
    for (const name of ["researcher", "coder"]) {
      await panel.getByRole("button", { name: `Remove @${name}` }).click();
      await panel.getByRole("button", { name: `Remove @${name}` }).waitFor({ state: "detached" });
    }
    assert.ok(await panel.getByRole("button", { name: "Remove @assistant" }).isDisabled());
    await small.close();
  });

  test("an agent comes into a room of a kind beside the kind's own; why not is said in place", async () => {
    const { id } = await server.client.rooms.create({ kind: "analysis" });
    await page.goto(`${server.url}/rooms/${id}`);
    const panel = page.getByRole("complementary", { name: "Members" });
    await panel.getByRole("form", { name: "Add an agent" }).getByRole("button", { name: "Invite" }).click();
    await panel.getByRole("button", { name: "Remove @assistant" }).waitFor();
    await panel.getByRole("button", { name: "Remove @reviewer" }).click();
    await panel.getByRole("button", { name: "Remove @reviewer" }).waitFor({ state: "detached" });
    const { members } = await server.client.rooms.get(id);
    assert.deepEqual(
      members.map(({ handle }) => handle),
      ["data", "code", "assistant", "user"],
    );
    await server.client.rooms.remove(id);
    await panel.getByRole("button", { name: "Remove @code" }).click();
    await panel.getByRole("alert").getByText("not found").waitFor();
    await panel.getByRole("button", { name: "Remove @code" }).waitFor();
    assert.deepEqual(complaints(), []);
  });
});
