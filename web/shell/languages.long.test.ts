import assert from "node:assert/strict";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser } from "../../test/browser.ts";
import { type PageWorld, servePageWorld } from "../../test/page-world/page-world.ts";
import { type Screen, screens } from "../../test/page-world/screens.ts";

/** Pictures of each stay there, to be looked at. */
const folder = join(import.meta.dirname, "../../.cache/languages");
const root = join(import.meta.dirname, "../..");
const phone = { width: 390, height: 800 };

/** A journey: the shell, a conversation with a call that is asked about, a room with what the server tells, the administration. */
const journey = screens.filter(({ view, state, who }) => {
  if (who !== "ada") return false;
  if (view === "admin") return /filled|new/.test(state);
  if (view === "chat") return ["begin", "approval", "limit", "unknown", "archived"].includes(state);
  return !/document|chunks|passage|asked|answered/.test(state);
});

const languages = [
  { locale: "de-DE", language: "de", direction: "ltr" },
  { locale: "ar", language: "ar", direction: "rtl" },
];

/** English texts that this language says otherwise, and what stands where a part's words were not loaded: ids of texts. */
function notIn(language: string): ReadonlySet<string> {
  const texts = globSync(`web/words/${language}/*.po`, { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^msgid "(.*)"\nmsgstr "(.*)"$/gm)].flatMap(([, of, said]) =>
      said === of || said === "" ? [] : [JSON.parse(`"${of}"`) as string],
    ),
  );
  const ids = globSync(".cache/page/assets/*.js", { cwd: root }).flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    return source.length < 100_000 ? [...source.matchAll(/"([\w+/-]{6})":\[/g)].map(([, id = ""]) => id) : [];
  });
  assert.ok(texts.length > 900 && ids.length > 900, `${texts.length} texts, ${ids.length} ids`);
  return new Set([...texts, ...ids]);
}

/** What people, tools and the server call theirs, which is a text of the page too. */
const names = new Set(["Tell me what is due today.", "pending", "default", "tools", "none"]);

/** All that is read on the page, and what scrolls sideways. */
const look = `(() => {
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (!walk.currentNode.parentElement.closest("script, style, noscript, pre, code, del, ins")) texts.push(walk.currentNode.data.trim());
  for (const name of ["aria-label", "placeholder", "title"])
    for (const each of document.querySelectorAll("[" + name + "]")) texts.push(each.getAttribute(name));
  const wide = [document.documentElement, ...document.querySelectorAll("#main, #main .overflow-y-auto")].filter((each) => each.scrollWidth > each.clientWidth);
  const outside = wide.flatMap((each) => {
    const { left, right } = each.getBoundingClientRect();
    const sticksOut = (one) => { const box = one.getBoundingClientRect(); return box.right > right + 1 || box.left < left - 1; };
    return [...each.querySelectorAll("*")].filter(sticksOut).map((one) => one.tagName + "." + one.className).slice(0, 4);
  });
  const { lang, dir } = document.documentElement;
  return { texts, wide: wide.map((each) => each.className + " " + each.scrollWidth), outside, lang, dir };
})()`;
type Look = Readonly<Record<"texts" | "wide" | "outside", readonly string[]> & Record<"lang" | "dir", string>>;

describe("languages", { skip: skipBrowser }, () => {
  let world: PageWorld;
  let browser: OpenBrowser;
  before(async () => {
    mkdirSync(folder, { recursive: true });
    world = await servePageWorld();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await world.close();
  });

  for (const { locale, language, direction } of languages)
    describe(language, () => {
      let page: Page;
      let foreign: ReadonlySet<string>;
      before(async () => {
        foreign = notIn(language);
        const storageState = await world.browserOf("ada");
        page = await browser.open(world.url, { locale, viewport: phone, storageState });
      });
      for (const screen of journey)
        test(`${screen.view}, ${screen.state}: nothing in English, nothing too wide`, async () => {
          const { texts, wide, outside, lang, dir } = await seen(page, screen);
          assert.deepEqual([lang, dir], [language, direction]);
          const left = texts.filter((text) => foreign.has(text) && !names.has(text));
          assert.deepEqual([...new Set(left)], []);
          assert.deepEqual([wide, outside], [[], []]);
        });
    });

  async function seen(page: Page, screen: Screen): Promise<Look> {
    await page.goto(world.url + screen.path(world));
    await screen.seen(page).first().waitFor();
    await screen.then?.(page);
    const { lang } = await page.evaluate<Look>(look);
    await page.screenshot({ path: join(folder, `${screen.view}-${screen.state}-${lang}.png`) });
    return await page.evaluate<Look>(look);
  }
});
