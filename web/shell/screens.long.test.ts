import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { allRoutes } from "../../src/http/all-routes.ts";
import { page as pageRoute } from "../../src/http/routes/page/page.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { type PageWorld, servePageWorld } from "../../test/page-world/page-world.ts";
import { isPageSeen, markPageSeen } from "../../test/page-hash.ts";
import { sampled } from "../../test/sampled.ts";
import { type Screen, screens } from "../../test/page-world/screens.ts";

/**
 * Every view in every state as people see it: nothing that axe finds, nothing that sticks out, nothing asked of others, and a picture
 * of each to look at. `COLLOQUY_TEST_PICTURE=docs` makes the README's alone.
 */
const folder = join(import.meta.dirname, "../../.cache/screens");
const isForDocs = process.env["COLLOQUY_TEST_PICTURE"] === "docs";
const docsPicture = "chat-approval-light";

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };
/** What changes with the colours alone is not looked for again. */
const onlyColours = "color-contrast";

/** While the page is what it was, some of it show whether the rest of the machine still is. */
const looked = isForDocs
  ? screens.filter((screen) => docsPicture.startsWith(nameOf(screen)))
  : isPageSeen()
    ? sampled(screens, 14)
    : screens;

type Tab = { readonly page: Page; readonly devtools: CDPSession };

const refused = /^Failed to load resource: the server responded with a status of 4\d\d/;

describe("pictures of the page", { skip: skipBrowser, concurrency: 2 }, () => {
  let world: PageWorld;
  let browser: OpenBrowser;
  /** Tabs that nobody looks at just now, by who is logged in and their language. */
  const idle = new Map<string, Tab[]>();
  let done = 0;
  before(async () => {
    mkdirSync(folder, { recursive: true });
    world = await servePageWorld();
    browser = await openBrowser();
    console.log(`pictures: ${folder}`);
  });
  after(async () => {
    if (done === screens.length) markPageSeen();
    await browser.close();
    await world.close();
  });

  /** With a tab that is at the screen, and back when it is done. */
  async function inTab(screen: Screen, locale: string, use: (tab: Tab) => Promise<string[]>): Promise<string[]> {
    const key = `${screen.who} ${locale}`;
    const url = world.url + screen.path(world);
    const known = idle.get(key)?.pop();
    const tab = known ?? (await newTab(screen, url, locale));
    const before = browser.complaints(tab.page).length;
    if (known) {
      await changeTo(tab, locale === "en-GB" ? wide : narrow, "light");
      await tab.page.goto(url);
    }
    await screen.seen(tab.page).first().waitFor();
    await screen.then?.(tab.page);
    const problems = await use(tab);
    const complaints = browser.complaints(tab.page).slice(known ? before : 0);
    idle.set(key, [...(idle.get(key) ?? []), tab]);
    return [...problems, ...complaints.filter((text) => !(screen.isRefused && refused.test(text)))];
  }

  async function newTab({ who }: Screen, url: string, locale: string): Promise<Tab> {
    const storageState = who === "nobody" ? undefined : await world.browserOf(who);
    const page = await browser.open(url, { locale, viewport: wide, ...(storageState && { storageState }) });
    const tab = { page, devtools: await page.context().newCDPSession(page) };
    await changeTo(tab, locale === "en-GB" ? wide : narrow, "light");
    return tab;
  }

  /** A picture, and what is wrong in it. */
  async function look(tab: Tab, screen: Screen, name: string, find?: () => Promise<string[]>): Promise<string[]> {
    await tab.page.screenshot({ path: join(folder, `${nameOf(screen)}-${name}.png`) });
    const [tooWide, tooHigh] = await tab.page.evaluate<[number, number]>(
      "[document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]",
    );
    const found = [...((await find?.()) ?? [])];
    if (tooWide > 0) found.push(`is ${tooWide} px too wide`);
    // Views scroll in their frame; only what is read without an account is as long as it is.
    if (tooHigh > 0 && screen.who !== "nobody") found.push(`is ${tooHigh} px too high`);
    return found.map((problem) => `${name}: ${problem}`);
  }

  async function inEnglish(tab: Tab, screen: Screen): Promise<string[]> {
    const { page } = tab;
    const problems = await look(tab, screen, "light", () => violationsOf(page));
    await changeTo(tab, wide, "dark");
    problems.push(...(await look(tab, screen, "dark", () => violationsOf(page, onlyColours))));
    await changeTo(tab, narrow, "light");
    problems.push(...(await look(tab, screen, "phone", () => violationsOf(page))));
    await changeTo(tab, narrow, "dark");
    return [...problems, ...(await look(tab, screen, "phone-dark"))];
  }

  const seenInGerman = new Set<string>();
  for (const screen of looked)
    test(`${screen.view}: ${screen.state}`, async () => {
      const problems = await inTab(screen, "en-GB", (tab) => inEnglish(tab, screen));
      const place = screen.path(world).replaceAll(/\?.*|[\da-f-]{36}/g, "");
      if (screen.who !== "fresh" && !seenInGerman.has(place)) {
        seenInGerman.add(place);
        problems.push(...(await inTab(screen, "de-DE", (tab) => look(tab, screen, "german"))));
      }
      assert.deepEqual(problems, []);
      done++;
      if (isForDocs) copyFileSync(join(folder, `${docsPicture}.png`), join(import.meta.dirname, "../../docs/page.png"));
    });

  test("each view, each of its addresses and each part of the administration is in the table", () => {
    const source = readFileSync(join(import.meta.dirname, "../page/view-list.tsx"), "utf8");
    const views = [...source.matchAll(/^\s*(?:\{ )?path: "([\w-]+)"/gm)].map(([, path]) => path);
    assert.ok(views.length >= 3);
    const seen = new Set(screens.map(({ view }) => view));
    assert.deepEqual(
      views.filter((view) => !seen.has(view!)),
      [],
    );
    const paths = screens.map((screen) => screen.path(world).split("?")[0]!);
    const addresses = allRoutes.flatMap(([, path, route]) =>
      route === pageRoute && (path === "/" || seen.has(path.split("/")[1]!)) ? [path] : [],
    );
    const isIn = (address: string) =>
      paths.some((path) => new RegExp(`^${address.replaceAll(/:\w+/g, "[^/]+")}$`).test(path));
    assert.deepEqual(
      addresses.filter((address) => !isIn(address)),
      [],
    );
    const names = readFileSync(join(import.meta.dirname, "../admin/admin-names.ts"), "utf8");
    const [, listed = ""] = /sectionNames = \{(.*?)\}/s.exec(names) ?? [];
    const sections = [...listed.matchAll(/([\w-]+)"?: t`/g)].map(([, name]) =>
      name === "usage" ? "/admin" : `/admin/${name}`,
    );
    assert.ok(sections.length > 9, listed);
    assert.deepEqual(
      sections.filter((section) => !paths.includes(section)),
      [],
    );
  });
});

/** The page's sources, what it is shown with, and the packages it is built of. */
function nameOf({ view, state }: Screen): string {
  return `${view}-${state.replaceAll(" ", "-")}`;
}

/** Without loading it anew: as where a window is made narrow, and fingers touch it. */
async function changeTo(
  { page, devtools }: Tab,
  viewport: { readonly width: number; readonly height: number },
  colorScheme: "light" | "dark",
): Promise<void> {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await devtools.send("Emulation.setTouchEmulationEnabled", { enabled: viewport === narrow });
}
