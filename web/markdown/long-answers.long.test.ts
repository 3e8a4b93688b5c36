import assert from "node:assert/strict";
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
import { until } from "../../test/run-suite.ts";

const paragraphs = 1200;
const paragraph = (at: number) =>
  `Paragraph ${at}. The **brown** fox jumps over the [lazy dog][dog], and \`explains\` at length why it does. ${"It goes on. ".repeat(10)}`;
const prose = `${Array.from({ length: paragraphs }, (_, at) => paragraph(at)).join("\n\n")}\n\nThe end of it.\n\n[dog]: https://dog.example\n`;
const codeLines = Array.from({ length: 450 }, (_, at) =>
  `const value${at} = "${at}"; // ${"so it is, ".repeat(at === 300 ? 60 : 1)}`.trimEnd(),
);

describe("long answers", { skip: skipBrowser, timeout: 180_000 }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let answer = prose;
  before(async () => {
    server = await servePage(() => answer);
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 } });
    await sayOn(page, "write much");
    await log().getByText("The end of it.").waitFor();
    await settled();
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = () => page.getByRole("log");
  const settled = () => page.locator("[role=log][aria-busy=false]").waitFor();
  const text = "document.querySelector('[role=log] .prose-page')";
  const isFormatted = `${text}.querySelectorAll("p > strong").length === ${paragraphs}`;
  const scroller = `document.querySelector("[role=log]").parentElement`;
  /** As on a machine that is so slow that a second frame never comes, until `window.goes`. */
  async function openSlowly(): Promise<void> {
    await page.addInitScript(
      "window.requestAnimationFrame = (show) => setTimeout(() => (window.goes ? show(performance.now()) : requestAnimationFrame(show)), 16)",
    );
    await page.reload();
    await log().locator(".prose-page").getByText("The end of it.").waitFor();
  }
  const topOf = (of: number) =>
    page.evaluate<number>(
      `[...${text}.querySelectorAll("p")].find(({ textContent }) => textContent.startsWith("Paragraph ${of}.")).getBoundingClientRect().top`,
    );

  test("are there at their end at once, and formatted as a whole soon", async () => {
    assert.ok(prose.length > 200_000, `${prose.length}`);
    await openSlowly();
    const isAtEnd = `${scroller}.scrollHeight - ${scroller}.scrollTop - ${scroller}.clientHeight < 2`;
    await untilTrue(page, isAtEnd);
    const early = await page.evaluate<number>(`${text}.querySelectorAll("p > strong").length`);
    assert.ok(early > 0 && early < paragraphs / 4, `${early} are formatted at once`);
    assert.equal(
      await page.evaluate(`${text}.lastElementChild.querySelector("p:last-of-type").textContent`),
      "The end of it.",
    );
    const words = await page.evaluate<string>(`${text}.textContent`);
    for (const at of [0, 600, paragraphs - 1])
      assert.ok(words.includes(`Paragraph ${at}.`), "what is not formatted is there");
    await page.evaluate("window.goes = true");
    await untilTrue(page, isFormatted);
    await untilTrue(page, isAtEnd);
    const links = await page.evaluate<number>(`${text}.querySelectorAll('a[href="https://dog.example"]').length`);
    assert.equal(links, paragraphs, "a link is defined once, for all parts");
  });

  test("are found, selected and linked to as a whole", async () => {
    assert.equal(await page.evaluate(`find("Paragraph 700.", false, false, true)`), true);
    // A browser's own search goes there, too.
    await page.evaluate("getSelection().anchorNode.parentElement.scrollIntoView({ block: 'center' })");
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const top = await topOf(700);
    assert.ok(top > 0 && top < 800, `in view: ${top}`);
    const selected = await page.evaluate<string>(
      `(getSelection().selectAllChildren(${text}), getSelection().toString())`,
    );
    for (let at = 0; at < paragraphs; at++) assert.ok(selected.includes(`Paragraph ${at}. The brown fox`), `${at}`);
    await page.evaluate("getSelection().empty()");
  });

  test("hold the place of what is read while what is above is formatted", async () => {
    await openSlowly();
    await log().hover();
    await page.mouse.wheel(0, -800);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const seen = paragraphs - 12;
    let before = NaN;
    await until(async () => before === (before = await topOf(seen)), "it stands still");
    assert.ok(before > -400 && before < 800, `near what is seen: ${before}`);
    await page.evaluate("window.goes = true");
    await untilTrue(page, isFormatted);
    const moved = Math.abs((await topOf(seen)) - before);
    assert.ok(moved < 3, `moved by ${moved}`);
  });

  test("of code are the code, line by line", async () => {
    answer = `Here:\n\`\`\`js\n${codeLines.join("\n")}\n\`\`\`\nThat was *it*.`;
    await sayOn(page, "write code");
    await log().locator("em", { hasText: "it" }).waitFor();
    await settled();
    const block = log().getByRole("region", { name: "js", exact: true });
    const code = codeLines.join("\n");
    await block.locator(".hljs-keyword").first().waitFor();
    assert.equal(await block.textContent(), `${code}\n`);
    const shown = `document.querySelector("[role=log] .code-block pre")`;
    const [selected = "", lines, wide] = await page.evaluate<[string, number, boolean]>(`(() => {
      const pre = ${shown};
      getSelection().selectAllChildren(pre);
      const { height } = pre.firstElementChild.getBoundingClientRect();
      return [getSelection().toString(), height / parseFloat(getComputedStyle(pre).lineHeight), pre.scrollWidth > 2 * pre.clientWidth];
    })()`);
    assert.equal(selected.trimEnd(), code, "as it is selected");
    assert.ok(Math.abs(lines - codeLines.length) < 0.5, `${lines} lines high`);
    assert.ok(wide, "a long line goes on beside");
  });

  test("of a list are all of its items, with their numbers", async () => {
    const items = Array.from({ length: 1200 }, (_, at) => `${at + 1}. item`);
    answer = `${items.join("\n")}\n\nThat was *all*.`;
    await sayOn(page, "write a list");
    await log().locator("em", { hasText: "all" }).waitFor();
    await settled();
    const lists = `[...document.querySelectorAll("[role=log] .turn:nth-last-child(1 of .turn) ol")]`;
    await untilTrue(page, `${lists}.flatMap(({ children }) => [...children]).length === ${items.length}`);
    const [first, ...starts] = await page.evaluate<[number, number][]>(
      `${lists}.map((list) => [list.start, list.children.length])`,
    );
    let next = first![1] + 1;
    assert.equal(first![0], 1);
    assert.ok(starts.length >= 2, "it is cut");
    for (const [start, count] of starts) {
      assert.equal(start, next);
      next += count;
    }
    const [gap, room] = await page.evaluate<[number, number]>(`(() => {
      const [one, other] = ${lists}.slice(-2).map((list) => list.getBoundingClientRect());
      return [other.top - one.bottom, parseFloat(getComputedStyle(${lists}.at(-1)).paddingInlineStart)];
    })()`);
    assert.equal(gap, 0);
    assert.ok(room > 10, "numbers of four digits have room");
  });

  test("and what a person pasted are all there", async () => {
    const lines = Array.from({ length: 900 }, (_, at) => `line ${at} of a log`);
    const pasted = [...lines, "x".repeat(10_000), ...lines].join("\n");
    answer = "Read.";
    await sayOn(page, pasted);
    await log().getByText("Read.", { exact: true }).waitFor();
    assert.equal(await log().locator(".bubble").last().textContent(), pasted);
  });

  test("ask nothing of other hosts, and complain of nothing", () => assert.deepEqual(browser.complaints(), []));
});
