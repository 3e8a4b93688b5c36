import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { until } from "../../test/run-suite.ts";
import { type ServerProcess, startServerProcess } from "../../test/server-process.ts";
import { type StreamGateway, startStreamGateway } from "../../test/stream-gateway.ts";
import { textOf } from "../../src/protocol/threads/items.ts";

/** Each word once, so that one that is lost or doubled is seen. */
const words = (name: string, count: number) => Array.from({ length: count }, (_, nth) => `${name}${nth} `);

describe("one event stream for all tabs", { skip: skipBrowser }, () => {
  let model: ModelServer;
  let server: ServerProcess;
  let gateway: StreamGateway;
  let browser: OpenBrowser;
  let start: () => Promise<ServerProcess>;
  before(async () => {
    buildPage();
    const cwd = temporaryFolder("one-stream");
    model = await startModelServer();
    const served = { id: "served", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" };
    writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models: [served] }));
    start = () => startServerProcess({ cwd, env: { COLLOQUY_LOG_LEVEL: "warn" } });
    [server, browser] = await Promise.all([start(), openBrowser()]);
    gateway = await startStreamGateway(server.url);
  });
  after(async () => {
    await browser.close();
    await gateway.close();
    await server.end("SIGKILL");
    await model.close();
  });

  const openContext = () => browser.browser.newContext({ locale: "en-GB", reducedMotion: "reduce" });
  const openTab = async (context: BrowserContext, thread: string) => {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${gateway.url}/chat/${thread}`);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    return page;
  };
  const openTabs = async (context: BrowserContext, threads: readonly string[]) => {
    const pages: Page[] = [];
    for (const thread of threads) pages.push(await openTab(context, thread));
    return pages;
  };
  const newThread = async () => (await server.client.createThread()).id;
  /** An answer of so many words, two in a tenth of a second. */
  const beginAnswer = async (thread: string, name: string, count = 60) => {
    model.answer({ text: words(name, count), paceMs: 50 });
    await server.client.startRun(thread, { agent: "assistant", content: `say ${name}` });
  };
  const says = (page: Page, text: string) => page.getByRole("log").getByText(text).first().waitFor();
  const answerOn = async (page: Page, name: string) => {
    const text = await page.getByRole("log").innerText();
    return text.match(new RegExp(`\\b${name}\\d+`, "g")) ?? [];
  };
  const hasAll = async (page: Page, name: string, count = 60) => {
    await says(page, `${name}${count - 1}`);
    assert.deepEqual(
      await answerOn(page, name),
      words(name, count).map((word) => word.trim()),
    );
  };
  const isOne = () => until(() => gateway.open() === 1, "one stream is open");

  test("twelve tabs hear one answer, also one that comes in its middle", { timeout: 300_000 }, async () => {
    const context = await openContext();
    const thread = await newThread();
    const tabs = await openTabs(
      context,
      Array.from({ length: 11 }, () => thread),
    );
    await isOne();
    await beginAnswer(thread, "alpha", 100);
    await says(tabs[0]!, "alpha10");
    tabs.push(await openTab(context, thread));
    await says(tabs.at(-1)!, "alpha10");
    await isOne();
    for (const tab of tabs) await hasAll(tab, "alpha", 100);
    await isOne();
    await context.close();
    await until(() => gateway.open() === 0, "nobody follows");
  });

  test(
    "five tabs hear five answers; the tab that came first may be closed or crash",
    { timeout: 300_000 },
    async () => {
      const context = await openContext();
      const threads = await Promise.all(Array.from({ length: 5 }, newThread));
      const tabs = await openTabs(context, threads);
      await isOne();
      for (const [nth, thread] of threads.entries()) await beginAnswer(thread, `tab${"abcde"[nth]}`, 80);
      await says(tabs[4]!, "tabe3");
      await tabs[0]!.close();
      const session = await context.newCDPSession(tabs[1]!);
      void session.send("Page.crash").catch(() => undefined);
      for (const nth of [2, 3, 4]) await hasAll(tabs[nth]!, `tab${"abcde"[nth]}`, 80);
      assert.equal(gateway.open(), 1);
      await context.close();
    },
  );

  test("a worker that dies in the middle of an answer is followed by another one", { timeout: 300_000 }, async () => {
    const context = await openContext();
    const thread = await newThread();
    const tabs = await openTabs(context, [thread, thread]);
    await beginAnswer(thread, "beta", 600);
    await says(tabs[0]!, "beta5");
    const session = await browser.browser.newBrowserCDPSession();
    const { targetInfos } = await session.send("Target.getTargets");
    const workers = targetInfos.filter(({ type }) => type === "shared_worker");
    assert.equal(workers.length, 1);
    await session.send("Target.closeTarget", { targetId: workers[0]!.targetId });
    for (const tab of tabs) await hasAll(tab, "beta", 600);
    await isOne();
    await context.close();
  });

  test("without shared workers each tab has one of its own", { timeout: 300_000 }, async () => {
    const context = await openContext();
    await context.addInitScript("delete globalThis.SharedWorker;");
    const thread = await newThread();
    const tabs = await openTabs(context, [thread, thread]);
    await until(() => gateway.open() === 2, "two streams are open");
    await beginAnswer(thread, "gamma");
    for (const tab of tabs) await hasAll(tab, "gamma");
    await context.close();
  });

  test(
    "a network that falls silent is told in every tab, at once where the browser knows",
    { timeout: 300_000 },
    async () => {
      const context = await openContext();
      const thread = await newThread();
      const tabs = await openTabs(context, [thread, thread, thread]);
      await isOne();
      const lost = (page: Page) => page.getByRole("status").getByText("Connection lost. Reconnecting…");
      await beginAnswer(thread, "delta", 200);
      for (const tab of tabs) await says(tab, "delta3");
      gateway.beSilent(true);
      await context.setOffline(true);
      // Long before its silence would tell.
      for (const tab of tabs) await lost(tab).waitFor({ timeout: 15_000 });
      gateway.beSilent(false);
      await context.setOffline(false);
      for (const tab of tabs) await hasAll(tab, "delta", 200);
      for (const tab of tabs) await lost(tab).waitFor({ state: "detached" });
      await context.close();
    },
  );

  test("a server that is killed in the middle of five answers goes on with them", { timeout: 300_000 }, async () => {
    const context = await openContext();
    const threads = await Promise.all(Array.from({ length: 5 }, newThread));
    const tabs = await openTabs(context, threads);
    model.always({ text: words("late", 40), paceMs: 20 });
    for (const [nth, thread] of threads.entries()) await beginAnswer(thread, `early${"abcde"[nth]}`, 400);
    for (const [nth, tab] of tabs.entries()) await says(tab, `early${"abcde"[nth]}2`);
    await server.end("SIGKILL");
    server = await start();
    gateway.turnTo(server.url);
    for (const [nth, tab] of tabs.entries()) {
      await hasAll(tab, "late", 40);
      assert.deepEqual(await answerOn(tab, "early"), [], "what the dead process had begun is withdrawn");
      const items = await server.client.items(threads[nth]!);
      const last = items.findLast((item) => item.kind === "message");
      assert.equal(last?.kind === "message" && textOf(last.body.content), words("late", 40).join(""));
    }
    await isOne();
    await context.close();
  });
});
