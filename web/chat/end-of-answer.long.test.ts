import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, type PageServing, sayOn, servePage, skipBrowser } from "../../test/browser.ts";
import { until } from "../../test/run-suite.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

const lines = (count: number, of: string) => Array.from({ length: count }, (_, at) => `${of} ${at}.`).join("\n\n");

describe("the end of an answer", { skip: skipBrowser }, () => {
  let answers: ScriptAnswer[] = [];
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 }, serviceWorkers: "block" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });
  const log = () => page.getByRole("log");
  const line = (text: string) => log().getByText(text, { exact: true });

  /** Where a line stands, once it stands still. */
  async function placeOf(text: string): Promise<number> {
    let top = NaN;
    await until(async () => {
      const before = top;
      await page.evaluate("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))");
      top = (await line(text).boundingBox())?.y ?? NaN;
      return top === before;
    }, `${text} stands still`);
    return top;
  }

  /** The places of a line while its answer is written, and when it has ended. */
  async function beforeAndAfter(of: string, count: number, seen: string, meanwhile = async () => {}) {
    const end = Promise.withResolvers<void>();
    answers = [[{ text: lines(count, of) }, { gate: () => end.promise }]];
    await sayOn(page, `write ${count} lines of ${of}`);
    await line(`${of} ${count - 1}.`).waitFor();
    await meanwhile();
    const before = await placeOf(seen);
    end.resolve();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    await log().getByRole("link", { name: "Run", exact: true }).last().waitFor();
    return [await placeOf(seen), before] as const;
  }

  for (const width of [1200, 390])
    test(`nothing moves when an answer ends, at ${width} pixels`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(server.url);
      assert.equal(...(await beforeAndAfter("short", 2, "short 1.")), "an answer that fits");
      assert.equal(...(await beforeAndAfter("second", 2, "short 1.")), "the answer before it");
      assert.equal(...(await beforeAndAfter("long", 60, "long 59.")), "one that is followed to its end");
      const scrollUp = async () => {
        await log().hover();
        await page.mouse.wheel(0, -400);
        await page.getByRole("button", { name: "Jump to latest" }).waitFor();
      };
      assert.equal(...(await beforeAndAfter("more", 60, "more 45.", scrollUp)), "one that is read further up");
    });
});
