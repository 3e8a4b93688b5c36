import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser } from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { type PageWorld, servePageWorld } from "../../test/page-world/page-world.ts";
import { sampled } from "../../test/sampled.ts";
import { type Screen, screens } from "../../test/page-world/screens.ts";

/** One or two of each view, with all kinds of controls. */
const main = new Set([
  "chat begin",
  "chat approval",
  "chat streaming",
  "chat plan at work",
  "rooms list",
  "rooms streaming",
  "tasks filled",
  "runs list",
  "runs waiting",
  "runs tool",
  "knowledge documents",
  "knowledge settings",
  "knowledge asked",
  "settings general",
  "settings shortcuts",
  "schedules new",
  "taiga begin",
  "admin usage filled",
  "admin models new",
  "admin people filled",
]);
const nameOf = ({ view, state }: Screen) => `${view} ${state}`;
const looked = screens.filter((screen) => main.has(nameOf(screen)));
const drawn = sampled(looked, 7);

/** What is there for those alone who come to it is left out. */
const controls =
  ":is(a[href]:not(.skip-link), button, input:not([type=file]), select, textarea, summary, [role=row][tabindex]):not(:disabled)";
const states =
  ":is([aria-current]:not([aria-current=false]), [aria-selected=true], [aria-pressed=true], [data-current=true]):not([aria-current] *)";

/** What is pictured of one: itself, and what may be drawn around it. */
const clipOf = `((each) => {
  const { left, top, width, height } = each.getBoundingClientRect();
  return { x: Math.max(0, left - 6), y: Math.max(0, top - 6), width: Math.min(width + 12, innerWidth - left), height: height + 12 };
})`;

/** One of each kind that is in the window; each has its number in `data-probe`. */
const mark = (selector: string) => `(() => {
  const kinds = new Set();
  const found = [];
  for (const each of document.querySelectorAll(${JSON.stringify(selector)})) {
    const { left, top, right, bottom, width, height } = each.getBoundingClientRect();
    const isSeen = each.checkVisibility({ opacityProperty: true }) && width > 1 && height > 1 && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight &&
      document.elementFromPoint(left + width / 2, top + height / 2)?.closest(${JSON.stringify(selector)}) === each;
    const kind = each.tagName + " " + each.className + " " + each.type;
    if (!isSeen || kinds.has(kind)) continue;
    kinds.add(kind);
    each.dataset.probe = String(found.length);
    found.push({ name: each.outerHTML.slice(0, 160), clip: ${clipOf}(each) });
  }
  return found;
})()`;

type Clip = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
type PixelProbe = { readonly name: string; readonly clip: Clip };

describe("the page as people set their system", { skip: skipBrowser }, () => {
  let world: PageWorld;
  let browser: OpenBrowser;
  before(async () => {
    world = await servePageWorld();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await world.close();
  });

  async function open(options: Parameters<OpenBrowser["open"]>[1]): Promise<Page> {
    return browser.open(`${world.url}/settings`, { storageState: await world.browserOf("ada"), ...options });
  }
  async function goTo(page: Page, screen: Screen): Promise<void> {
    await page.goto(world.url + screen.path(world));
    await screen.seen(page).first().waitFor();
    await screen.then?.(page);
  }
  /** Those for which a change makes no difference that one could see. */
  async function without(page: Page, selector: string, change: { on: string; off: string }): Promise<string[]> {
    const found: string[] = [];
    for (const [at, { name }] of (await page.evaluate<PixelProbe[]>(mark(selector))).entries()) {
      const act = <R = void>(what: string) =>
        page.evaluate<R>(`((it) => { ${what} })(document.querySelector('[data-probe="${at}"]'))`);
      // It was in the window when it was marked; what arrives above one may move it out.
      const clip = () => act<Clip>(`it.scrollIntoView({ block: "nearest" }); return ${clipOf}(it)`);
      const differs = async (place: Clip) => {
        const picture = () => page.screenshot({ clip: place, animations: "disabled" });
        await act(change.off);
        const plain = await picture();
        await act(change.on);
        return !(await picture()).equals(plain);
      };
      // What arrives above one moves it: pictures of where it was until then say nothing.
      let [place, isSeen] = [await clip(), false];
      for (let before; !isSeen && !isDeepStrictEqual(before, place); place = await clip()) {
        before = place;
        isSeen = await differs(place);
      }
      if (!isSeen) found.push(name);
      await act(change.off);
    }
    await page.evaluate(`for (const each of document.querySelectorAll("[data-probe]")) delete each.dataset.probe`);
    return found;
  }

  const noteStates = `it.hadStates ??= ["aria-current", "aria-selected", "aria-pressed", "data-current"].map((name) => [name, it.getAttribute(name)]);`;
  const withState = {
    on: `${noteStates} for (const [name, value] of it.hadStates) if (value !== null) it.setAttribute(name, value);`,
    off: `${noteStates} for (const [name] of it.hadStates) it.removeAttribute(name);`,
  };

  for (const colorScheme of ["light", "dark"] as const)
    test(`in the system's few colours, ${colorScheme}: controls, their focus and their states are seen`, async () => {
      const page = await open({ viewport: { width: 1280, height: 800 }, colorScheme, forcedColors: "active" });
      for (const screen of drawn.filter(({ state }) => !/streaming|at work/.test(state))) {
        await goTo(page, screen);
        if (nameOf(screen) === "runs waiting") await page.getByRole("row", { name: /^Step 1/ }).click();
        // The focus of a keyboard is what is meant.
        await page.keyboard.press("Tab");
        await pictureOf(page, `forced ${colorScheme} ${nameOf(screen)}`);
        const hidden = { on: "it.style.visibility = ''", off: "it.style.visibility = 'hidden'" };
        assert.deepEqual(await without(page, controls, hidden), [], `${nameOf(screen)}: controls`);
        // In what can't be written there is no caret, which alone is too little.
        const focus = {
          on: "it.readOnly = true; it.focus({ preventScroll: true })",
          off: "document.activeElement.blur()",
        };
        assert.deepEqual(await without(page, controls, focus), [], `${nameOf(screen)}: focus`);
        assert.deepEqual(await without(page, states, withState), [], `${nameOf(screen)}: states`);
      }
      await page.goto(world.url);
      await page.getByRole("combobox", { name: /^Model/ }).click();
      await page.getByRole("option").nth(1).waitFor();
      await page.keyboard.press("ArrowDown");
      await pictureOf(page, `forced ${colorScheme} picker`);
      assert.deepEqual(await without(page, `[role=listbox] > ${states}`, withState), [], "options");
      await page.goto(`${world.url}/rooms/${world.rooms.analysis}`);
      await page.getByRole("combobox", { name: "Message" }).pressSequentially("Ask @");
      await page.getByRole("option").nth(1).waitFor();
      assert.deepEqual(await without(page, `[role=listbox] > ${states}`, withState), [], "members");
      await page.context().close();
    });

  test("where motion is reduced nothing moves, whatever is done", async () => {
    const page = await open({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    for (const screen of drawn) {
      await goTo(page, screen);
      await page.evaluate(`
        globalThis.moved = [];
        for (const kind of ["animationstart", "transitionrun"])
          document.addEventListener(kind, ({ target }) => moved.push(kind + " " + target.outerHTML.slice(0, 160)), true);`);
      for (const probe of await page.evaluate<PixelProbe[]>(mark(controls)))
        await page.mouse.move(probe.clip.x + probe.clip.width / 2, probe.clip.y + probe.clip.height / 2);
      await page.keyboard.press("Tab");
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const running = await page.evaluate<string[]>(`[...moved, ...document.getAnimations().map(({ effect }) =>
        effect.target.outerHTML.slice(0, 160))]`);
      assert.deepEqual(running, [], nameOf(screen));
      const smooth = await page.evaluate<string[]>(`[...document.querySelectorAll("*")]
        .filter((each) => getComputedStyle(each).scrollBehavior === "smooth").map((each) => each.outerHTML.slice(0, 160))`);
      assert.deepEqual(smooth, [], nameOf(screen));
    }
    await page.context().close();
  });

  test("magnified to 200 % nothing sticks out, and all can be come to", async () => {
    const page = await open({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
    for (const screen of sampled(
      screens.filter(({ who, isRefused }) => who === "ada" && !isRefused),
      16,
    )) {
      await goTo(page, screen);
      const [wide, inner] = await page.evaluate<[number, number]>("[document.documentElement.scrollWidth, innerWidth]");
      assert.ok(wide <= inner, `${nameOf(screen)} is ${wide} px wide`);
      // Behind what is asked back all waits.
      const hidden = await page.evaluate<
        string[]
      >(`[...(document.querySelector("dialog:modal") ?? document).querySelectorAll(${JSON.stringify(controls)})]
        .filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .filter((each) => {
          each.scrollIntoView({ block: "center", inline: "center" });
          const { left, top, width, height } = each.getBoundingClientRect();
          const found = document.elementFromPoint(left + Math.min(width / 2, 300), top + Math.min(height / 2, 150));
          return width > 1 && height > 1 && !(found && (each.contains(found) || found.contains(each) || found.closest("label")?.contains(each)));
        })
        .map((each) => each.outerHTML.slice(0, 160))`);
      assert.deepEqual(hidden, [], nameOf(screen));
      await pictureOf(page, `magnified ${nameOf(screen)}`);
    }
    await page.goto(world.url);
    await page.getByRole("button", { name: /Manage tasks/ }).waitFor();
    const top = () => page.getByRole("heading", { name: "What can I help with?" }).boundingBox();
    assert.ok((await top())!.y > 0, "what can be tried is read from its beginning");
    await page.context().close();
  });

  test("what streams is busy and not read out word by word; a polite line says who works", async () => {
    const page = await open({ viewport: { width: 1280, height: 800 } });
    for (const screen of looked.filter(({ state }) => /streaming|at work/.test(state))) {
      await goTo(page, screen);
      const log = page.getByRole("log");
      await page.locator("[role=log][aria-busy=true]").waitFor();
      assert.equal(await log.getAttribute("aria-live"), "off", nameOf(screen));
      const status = page
        .getByRole("main")
        .getByRole("status")
        .filter({ hasText: /@\w+ is (working|thinking)/ });
      await status.waitFor();
      assert.ok(["polite", null].includes(await status.getAttribute("aria-live")), nameOf(screen));
    }
    await page.context().close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
