import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type Client, createClient } from "../../src/client/client.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import { type OpenBrowser, openBrowser, skipBrowser, untilTrue, violationsOf } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";
import { until } from "../../test/run-suite.ts";

/** What the browser would have shown; headless, it shows nothing. */
const noteNotifications = `
  const Real = Notification;
  globalThis.told = [];
  globalThis.Notification = class {
    static get permission() { return Real.permission; }
    static requestPermission() { return Real.requestPermission(); }
    constructor(title, { body, tag }) { this.shown = { title, body, tag }; told.push(this); }
    close() { this.isClosed = true; }
  };`;

describe("what an answer took, and being called when something waits", { skip: skipBrowser }, () => {
  let server: Colloquy;
  let client: Client;
  let model: ModelServer;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    buildPage();
    model = await startModelServer();
    const cwd = temporaryFolder("called");
    const config = {
      models: [
        { id: "priced", provider: "openai", baseUrl: `${model.url}/v1`, model: "priced", apiKey: "none", retries: 0 },
      ],
      prices: { priced: { input: 10, output: 20 } },
      mcpServers: { mcp_filesystem: { disabled: true }, mcp_trader: { disabled: true } },
      approval: { ask: ["add_task"] },
    };
    writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify(config));
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: await freshDataDirectory(),
      COLLOQUY_SECRET: "a secret of these tests",
      COLLOQUY_PROBE: "false",
      COLLOQUY_TITLES: "first-words",
      COLLOQUY_PORT: "0",
    };
    server = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
    client = createClient({ url: server.url });
    browser = await openBrowser();
    page = await browser.open(server.url, {
      viewport: { width: 1200, height: 800 },
      permissions: ["notifications"],
    });
    await page.addInitScript(noteNotifications);
    await page.reload();
  });
  after(async () => {
    await browser.close();
    await server.stop();
    await model.close();
  });

  const log = () => page.getByRole("log");
  /** In the account's menu, which tells how it is. */
  const turnNotifications = async (to: "on" | "off") => {
    const account = page.getByRole("button", { name: /^Account/ });
    const entry = page.getByRole("menuitemcheckbox", { name: "Notifications", checked: to !== "on" });
    await account.click();
    await entry.click();
    await account.click();
    await page.getByRole("menuitemcheckbox", { name: "Notifications", checked: to === "on" }).waitFor();
    await pictureOf(page, `called notifications ${to}`);
    await page.keyboard.press("Escape");
  };
  const told = () => page.evaluate<{ title: string; body: string; tag: string }[]>("told.map(({ shown }) => shown)");
  /** As where another tab is looked at: the page itself is left open. */
  const look = (elsewhere: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "visibilityState", { configurable: true, value: "${elsewhere ? "hidden" : "visible"}" })`,
    );
  const waits = async (title: string, agent = "assistant") => {
    model.answer({ calls: [{ name: "add_task", arguments: { title } }] });
    const thread = await client.createThread({ title });
    const { id } = await client.startRun(thread.id, { agent, content: title });
    for await (const { event } of client.follow(id)) if (event.type === "run-wait") break;
    return { thread: thread.id, run: id };
  };
  /** The page looks around every 15 seconds, and when one comes back to it. */
  const titled = (begin: string) =>
    until(async () => {
      await page.evaluate(`dispatchEvent(new Event("focus"))`);
      return (await page.title()).startsWith(begin);
    }, `the title ${begin}`);

  test("tokens, cost, time to the first word and in all, in the conversation and in its run", async () => {
    model.answer({ text: ["It took ", "some."], usage: { input: 1200, output: 40 } });
    await page.getByRole("textbox", { name: "Message" }).fill("what did it take?");
    await page.keyboard.press("Enter");
    await log().getByText("It took some.").waitFor();
    const figures = log().getByText(/1,200 \+ 40 tokens · Cost \$0\.0128 · Time to first token \d.* · Total \d/);
    await figures.waitFor();
    await pictureOf(page, "called figures");
    await log().getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("row", { name: /^Step 1/ }).click();
    const step = page.getByRole("region", { name: "Step 1" });
    await step.getByText("1,200 + 40").waitFor();
    await step.getByText("0.0128").waitFor();
    await pictureOf(page, "called figures of a run");
    assert.deepEqual(await violationsOf(page), []);
  });

  test("it is saved as JSON, with what tools did and what it took", async () => {
    await page.goBack();
    await log().getByText("It took some.").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("main").getByRole("button", { name: "More options" }).click();
    await page.getByRole("menuitem", { name: "Download as JSON" }).click();
    const saved = await download;
    assert.match(saved.suggestedFilename(), /^what-did-it-take.*\.json$/);
    const text = readFileSync(await saved.path(), "utf8");
    assert.doesNotThrow(() => JSON.parse(text));
    assert.match(text, /It took some\./);
  });

  test("a model's health stands where it is chosen", async () => {
    // The page looks now and then, and when one comes back to it; the server keeps for some seconds what it has found.
    const shows = async (text: RegExp) => {
      await page.getByRole("combobox", { name: /^Model:/ }).click();
      const option = page.getByRole("option", { name: text });
      for (let looks = 0; looks < 60 && !(await option.isVisible()); looks++) {
        await page.evaluate(`dispatchEvent(new Event("focus"))`);
        await option.waitFor({ timeout: 1000 }).catch(() => undefined);
      }
      await option.waitFor();
    };
    await shows(/^priced.*\bavailable/);
    await page.keyboard.press("Escape");
    model.answer({ status: 400, error: "overheated" });
    await page.getByRole("textbox", { name: "Message" }).fill("are you still there?");
    await page.keyboard.press("Enter");
    await log()
      .getByText(/overheated/)
      .first()
      .waitFor();
    await shows(/^priced.*failed/);
    await pictureOf(page, "called model failed");
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press("Escape");
  });

  test("whoever is in another view sees by title, icon and list that something waits", async () => {
    await page.goto(`${server.url}/settings`);
    await page.getByRole("heading", { name: "General" }).waitFor();
    const { thread, run } = await waits("Buy milk");
    await titled("(1) needs your input");
    await untilTrue(page, `document.querySelector("link[rel=icon]").href.startsWith("data:")`);
    assert.deepEqual(await told(), [], "nobody asked for notifications");
    await page.goto(`${server.url}/chat/${thread}`);
    await log().getByRole("button", { name: "Allow", exact: true }).click();
    await titled("Buy milk");
    for await (const _ of client.follow(run));
    await untilTrue(page, `!document.querySelector("link[rel=icon]").href.startsWith("data:")`);
  });

  test("who wants it is told by the browser, once, and led there", async () => {
    await page.goto(`${server.url}/tasks`);
    await turnNotifications("on");
    await look(true);
    const { thread, run } = await waits("Call Ann");
    await titled("(1)");
    await untilTrue(page, "told.length === 1");
    const [first] = await told();
    assert.equal(first?.title, "needs your input");
    assert.match(first.body, /May add_task be called/);
    assert.equal(first.tag, `colloquy-${run}`);
    await page.evaluate("told[0].onclick()");
    await page.waitForURL(`**/chat/${thread}`);
    assert.equal(await page.evaluate("told[0].isClosed"), true);
    await log().getByRole("button", { name: "Allow", exact: true }).waitFor();
    // Looked at again and again, it is told once.
    for (let looks = 0; looks < 3; looks++) await titled("(1)");
    assert.equal((await told()).length, 1);
  });

  test("a question of a room leads to the room; what is looked at is not told, nor is anything when it is off", async () => {
    const room = await client.rooms.create({
      title: "Shopping",
      members: [{ agent: "assistant", activation: "always" }],
    });
    model.answer({ calls: [{ name: "add_task", arguments: { title: "Tea" } }] });
    await client.rooms.say(room.id, { content: "tea, please" });
    await titled("(2)");
    await untilTrue(page, "told.length === 2");
    await page.evaluate("told[1].onclick()");
    await page.waitForURL(`**/rooms/${room.id}`);
    await log().getByRole("button", { name: "Allow", exact: true }).waitFor();

    await look(false);
    await waits("Looked at");
    await titled("(3)");
    await look(true);
    await turnNotifications("off");
    await waits("Switched off");
    await titled("(4)");
    assert.equal((await told()).length, 2);
  });

  test("where only a service worker may tell, it does, and leads there", async () => {
    await turnNotifications("on");
    await page.evaluate(`globalThis.Notification = class extends Notification {
      constructor() { throw new TypeError("Illegal constructor"); }
    };
    globalThis.toldByWorker = [];
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      toldByWorker.push({ title, ...options, isActive: this.active !== null });
    };`);
    const { thread, run } = await waits("On a phone");
    await titled("(5)");
    await untilTrue(page, "toldByWorker.length === 1");
    type Shown = { title: string; body: string; tag: string; data: string; isActive: boolean };
    const { body, ...first } = await page.evaluate<Shown>("toldByWorker[0]");
    assert.match(body, /May add_task be called/);
    assert.deepEqual(first, {
      title: "needs your input",
      tag: `colloquy-${run}`,
      data: `chat/${thread}`,
      isActive: true,
    });
  });

  test("asks nothing of other hosts, and complains of nothing but that a thread is no room", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !text.includes("status of 404")),
      [],
    );
  });
});
