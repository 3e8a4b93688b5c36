import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  untilTrue,
} from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { serve, type Serving } from "../../test/serve.ts";
import { loadPage } from "../../src/http/files/page-files.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

let answers: ScriptAnswer[] = [];

/** A clock so many days off, as that of a computer without a battery. */
const clockOff = (days: number) => `{
  const { Date: Real } = globalThis, off = ${days * 86_400_000};
  globalThis.Date = class extends Real {
    constructor(...given) { given.length === 0 ? super(Real.now() + off) : super(...given); }
    static now() { return Real.now() + off; }
  };
}`;

/** As browsers do it whose storage is full, or which let no page keep anything. */
const storage = {
  full: `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };`,
  forbidden: `for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"])
    Object.defineProperty(globalThis, name, { get() { throw new DOMException("not allowed", "SecurityError"); } });`,
};

describe("the page in bad surroundings", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const open = async (script: string, viewport = { width: 1200, height: 800 }): Promise<Page> => {
    const page = await browser.open("about:blank", { viewport });
    await page.addInitScript(script);
    await page.goto(server.url);
    return page;
  };
  const log = (page: Page) => page.getByRole("log");
  const isAtRest = (page: Page) => page.locator("[role=log][aria-busy=false]").waitFor();

  for (const [what, script] of Object.entries(storage))
    test(`storage is ${what}: one talks, drafts hold until the page is left, and choices too`, async () => {
      const page = await open(script);
      answers = ["Here I am."];
      await sayOn(page, "are you there?");
      await log(page).getByText("Here I am.").waitFor();
      await page.getByRole("textbox", { name: "Message" }).fill("half a thought");
      await page.getByRole("link", { name: "Tasks" }).click();
      await page.getByRole("heading", { name: "Tasks" }).waitFor();
      await page.goBack();
      await untilTrue(page, `document.querySelector("[data-composer]")?.value === "half a thought"`);
      const isDark = `document.documentElement.matches(".dark, [data-theme=dark]")`;
      await page.goto(`${server.url}/settings`);
      await page.getByLabel("Theme").selectOption("dark");
      await untilTrue(page, isDark);
      await page.context().close();
    });

  for (const days of [-1000, 1, 1000])
    test(`the clock is ${days} days off: times are those of the server`, async () => {
      const page = await open(clockOff(days));
      const held = Promise.withResolvers<void>();
      answers = [[{ gate: () => held.promise }, { text: "At last." }]];
      await sayOn(page, `what time is it, ${days}?`);
      await log(page)
        .getByText(/Waiting for the first token · [1-9] s/)
        .waitFor();
      held.resolve();
      await log(page).getByText("At last.").waitFor();
      await isAtRest(page);
      await page.reload();
      await page.getByRole("region", { name: "Today" }).waitFor();
      assert.equal(await page.getByRole("region", { name: /Yesterday|Older|7 days/ }).count(), 0);
      assert.match((await log(page).locator("time").last().textContent()) ?? "", /^\d\d:\d\d$/);
      await page.context().close();
    });

  test("words of 900 characters, everywhere one can put them, widen nothing", async () => {
    const word = "Donaudampfschiff".repeat(57).slice(0, 900);
    const page = await open("", { width: 320, height: 640 });
    answers = [
      `# ${word}\n\n${word} **${word}** \`${word}\` [${word}](https://example.com/${word})\n\n| ${word} |\n|---|\n| ${word} |`,
    ];
    await sayOn(page, word);
    await isAtRest(page);
    await log(page).getByRole("table").waitFor();
    const wide = () => page.evaluate<number>("document.documentElement.scrollWidth");
    assert.equal(await wide(), 320);
    await page.goto(`${server.url}/tasks`);
    await page.getByRole("main").getByRole("textbox").first().fill(word.slice(0, 200));
    await page.keyboard.press("Enter");
    await page.getByRole("main").getByText(word.slice(0, 200)).first().waitFor();
    assert.equal(await wide(), 320);
    await page.getByRole("button", { name: "Show conversations" }).click();
    await page.getByRole("dialog").getByText(word.slice(0, 20)).first().waitFor();
    assert.equal(await wide(), 320);
    await page.context().close();
  });

  test("a service worker of the last version gives nothing of it, and goes", async () => {
    const older = temporaryFolder("older-page");
    cpSync(buildPage(), older, { recursive: true });
    const change = (file: string, from: RegExp, to: string) => {
      const text = readFileSync(join(older, file), "utf8");
      assert.match(text, from);
      writeFileSync(join(older, file), text.replace(from, to));
      for (const packed of ["br", "gz"]) rmSync(join(older, `${file}.${packed}`));
    };
    change("sw.js", /(?<=\bversion\s*=\s*["'`])[^"'`]*/, "older");
    change("index.html", /<title>[^<]*/, "<title>Older");
    let serving: Serving = await serve({ ...server.services, page: loadPage(older) });
    const page = await browser.open(serving.url);
    const port = Number(new URL(serving.url).port);
    await untilTrue(page, "Boolean(navigator.serviceWorker?.controller)");
    const kept = () => page.evaluate<string[]>("caches.keys()");
    assert.ok((await kept()).some((name) => name.endsWith("older")));
    await serving.close();
    serving = await serve({ ...server.services, page: loadPage(buildPage()) }, port);
    await page.reload();
    assert.ok(!(await page.content()).includes("<title>Older"));
    await untilTrue(page, `caches.keys().then((names) => names.length === 1 && !names[0].endsWith("older"))`);
    answers = ["Of the new version."];
    await sayOn(page, "which are you?");
    await log(page).getByText("Of the new version.").waitFor();
    await page.context().close();
    await serving.close();
  });

  test("complains of nothing, and asks no other host", () => {
    const complaints = browser
      .complaints()
      .filter((text) => !text.startsWith(`asks ${server.url}/`) && !text.includes("ERR_CONNECTION_REFUSED"));
    assert.deepEqual(complaints, []);
  });
});
