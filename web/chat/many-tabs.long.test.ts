import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { type OpenBrowser, openBrowser, type PageServing, sayOn, servePage, skipBrowser } from "../../test/browser.ts";
import { until } from "../../test/run-suite.ts";
import { type StreamGateway, startStreamGateway } from "../../test/stream-gateway.ts";
import { createClient } from "../../src/client/client.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

/** A headless browser takes all its tabs for seen. */
const hideable = `
  let isHidden = false;
  Object.defineProperty(document, "hidden", { get: () => isHidden });
  Object.defineProperty(document, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
  globalThis.showTab = (isShown) => {
    isHidden = !isShown;
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  };
`;
/** Browsers open six connections to one server. */
const tabs = 8;

describe("many tabs of one server", { skip: skipBrowser }, () => {
  let answers: ScriptAnswer[] = [];
  let server: PageServing;
  let browser: OpenBrowser;
  let context: BrowserContext;
  const pages: Page[] = [];
  const threads: string[] = [];
  let gateway: StreamGateway;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
    context = await browser.browser.newContext({ locale: "en-GB", reducedMotion: "reduce", serviceWorkers: "block" });
    await context.addInitScript(hideable);
    gateway = await startStreamGateway(server.url);
  });
  after(async () => {
    await browser.close();
    await gateway.close();
    await server.close();
  });
  const client = () => createClient({ url: server.url });
  const show = (page: Page, isShown: boolean) => page.evaluate(`showTab(${isShown})`);
  const log = (page: Page) => page.getByRole("log");
  const isFollowed = (thread: string) => gateway.followed().some(({ id }) => id === thread);
  const ask = async (threadId: string, content: string) => {
    const { id } = await client().startRun(threadId, { agent: "assistant", content });
    for await (const _ of client().follow(id));
  };

  test("each loads and shows its conversation, whatever many hidden ones there are", async () => {
    for (let nth = 0; nth < tabs; nth++) {
      const { id } = await client().createThread({ title: `Tab ${nth}` });
      threads.push(id);
      answers = [`Answer of tab ${nth}.`];
      await ask(id, "begin");
      const last = pages.at(-1);
      if (last) await show(last, false);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      pages.push(page);
      await page.goto(`${gateway.url}/chat/${id}`);
      await log(page).getByText(`Answer of tab ${nth}.`).waitFor();
    }
    await until(() => !threads.slice(0, -1).some(isFollowed), "hidden tabs do not follow");
    assert.ok(isFollowed(threads.at(-1)!), "the one that is seen follows its thread");
  });

  test("what happened meanwhile stands in a hidden one when it is shown again, once", async () => {
    for (const nth of [0, 3]) {
      answers = [`News of tab ${nth}.`];
      await ask(threads[nth]!, "go on");
      const page = pages[nth]!;
      assert.equal(await log(page).getByText(`News of tab ${nth}.`).count(), 0, "nobody looks");
      await show(page, true);
      await log(page).getByText(`News of tab ${nth}.`).waitFor();
      answers = ["And this at once."];
      await sayOn(page, "are you there?");
      await log(page).getByText("And this at once.").waitFor();
      for (const text of [`Answer of tab ${nth}.`, `News of tab ${nth}.`, "And this at once."])
        assert.equal(await log(page).getByText(text).count(), 1, text);
      await show(page, false);
    }
  });

  test("one that is hidden while its agent works follows it to its end, and no longer", async () => {
    const [page, thread] = [pages[5]!, threads[5]!];
    await show(page, true);
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    answers = [
      [
        { text: "First words, " },
        { gate: () => gates[0].promise },
        { text: "more, " },
        { gate: () => gates[1].promise },
        { text: "the end." },
      ],
    ];
    await sayOn(page, "take your time");
    await log(page).getByText("First words,").waitFor();
    await show(page, false);
    // By the time another one follows no more, this one could do so too.
    const other = pages[6]!;
    await show(other, true);
    await until(() => isFollowed(threads[6]!), "the other one follows");
    await show(other, false);
    await until(() => !isFollowed(threads[6]!), "the other one is done");
    assert.ok(isFollowed(thread), "its agent is at work");
    gates[0].resolve();
    await log(page).getByText("First words, more,").waitFor();
    gates[1].resolve();
    await log(page).getByText("First words, more, the end.").waitFor();
    await until(() => !isFollowed(thread), "it has ended");
  });
});
