import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, type PageServing, servePage, skipBrowser } from "../../test/browser.ts";

/** Text on its ground: 4.5 to 1 (WCAG AA). `raised` is what stands on the accent. */
const texts = ["ink", "muted", "accent", "ok", "warn", "bad", ...Array.from({ length: 8 }, (_, at) => `speaker ${at}`)];
const grounds = ["paper", "raised"];
const pairs = [
  ...texts.flatMap((text) => grounds.map((ground) => [text, ground] as const)),
  ["raised", "accent"] as const,
  ["ink", "sunken"] as const,
  ["muted", "sunken"] as const,
];

describe("the colours of the page", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => "an answer");
    browser = await openBrowser();
    page = await browser.open(server.url);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  /** As the browser paints it, whatever the colour is written in. */
  const painted = (name: string) =>
    page.evaluate<number[]>(`(() => {
      const [token, at] = ${JSON.stringify(name)}.split(" ");
      const probe = document.createElement("i");
      if (at !== undefined) probe.dataset.speaker = at;
      probe.style.color = "var(--" + token + ")";
      document.body.append(probe);
      const context = document.createElement("canvas").getContext("2d");
      context.fillStyle = getComputedStyle(probe).color;
      context.fillRect(0, 0, 1, 1);
      probe.remove();
      return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    })()`);

  for (const scheme of ["light", "dark"] as const)
    test(`${scheme}: each is told from its ground`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      const colours = new Map<string, number[]>();
      for (const name of new Set(pairs.flat())) colours.set(name, await painted(name));
      const weak = pairs
        .map(([text, ground]) => ({ text, ground, ratio: contrast(colours.get(text)!, colours.get(ground)!) }))
        .filter(({ ratio }) => ratio < 4.5);
      assert.deepEqual(weak, []);
      assert.ok(contrast(colours.get("ink")!, colours.get("paper")!) > 12, "text to read at length");
    });

  test("what the browser is coloured with around the page is its paper, as chosen or as the system is", async () => {
    const shown = () =>
      page.evaluate<string>(
        "[...document.querySelectorAll('meta[name=theme-color]')].find(({ media }) => matchMedia(media).matches).content",
      );
    const paper = async () => `#${(await painted("paper")).map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    assert.equal(await shown(), await paper());
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    await page.locator("html[data-theme=light]").waitFor();
    assert.equal(await shown(), await paper());
    assert.equal(await paper(), "#fbfaf7");
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});

function contrast(one: readonly number[], other: readonly number[]): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: readonly number[]): number {
  const [red, green, blue] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
