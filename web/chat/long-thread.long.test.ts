import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import { itemIdOf, seedThread } from "../../test/long-thread.ts";

/** Where a text stands in the window. */
const topOf = (page: Page, text: string): Promise<number> =>
  page
    .getByRole("log")
    .getByText(text, { exact: true })
    .evaluate((element: { getBoundingClientRect(): { top: number } }) => element.getBoundingClientRect().top);
const question = (n: number) => `Question ${n}: why does the fox jump?`;

describe("a long conversation", { skip: skipBrowser, timeout: 180_000 }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let thread: string;
  before(async () => {
    server = await servePage(() => "and that is why");
    thread = await seedThread(server.database.query, { owner: server.caller.userId, title: "Foxes", messages: 600 });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/chat/${thread}`, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = () => page.getByRole("log");
  const shown = (n: number) => log().getByText(question(n), { exact: true });
  const older = () => page.getByRole("button", { name: "Show older messages" });

  test("opens at its end, with the last turns alone", async () => {
    await shown(300).waitFor();
    await page.getByText("Answer 300.").waitFor();
    assert.ok((await log().getByRole("article").count()) <= 60);
    assert.equal(await shown(200).count(), 0);
    assert.deepEqual(await violationsOf(page), []);
  });

  test("older messages come by a button, and what is read stays where it is", async () => {
    const first = 286;
    await older().scrollIntoViewIfNeeded();
    await shown(first).waitFor();
    const before = await topOf(page, question(first));
    await older().focus();
    await page.keyboard.press("Enter");
    await shown(first - 15).waitFor();
    const moved = Math.abs((await topOf(page, question(first))) - before);
    assert.ok(moved < 3, `moved by ${moved}`);
  });

  test("they come by themselves where one scrolls up to them, from the server too", async () => {
    await page.mouse.move(700, 300);
    for (let wheels = 0; wheels < 200 && (await shown(180).count()) === 0; wheels++) await page.mouse.wheel(0, -3000);
    await shown(180).waitFor();
    // What is far below is let go.
    assert.equal(await shown(300).count(), 0);
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await log().getByText("Answer 300.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Show newer messages" }).count(), 0);
  });

  test("a link to an item opens there, and goes on in both directions", async () => {
    const item = await itemIdOf(server.database.query, thread, 40);
    const other = await browser.open(`${server.url}/chat/${thread}?item=${item}`, {
      viewport: { width: 360, height: 740 },
    });
    const there = other.getByRole("log");
    await there.getByText(question(40), { exact: true }).waitFor();
    await other.locator(".found-turn").getByText(question(40)).waitFor();
    const top = await topOf(other, question(40));
    assert.ok(top > 100 && top < 600, `in view: ${top}`);
    assert.equal(await there.getByText(question(300), { exact: true }).count(), 0);
    assert.deepEqual(await violationsOf(other), []);
    assert.equal(await other.evaluate("document.documentElement.scrollWidth"), 360);
    // Where "Jump to latest" stands at the same place, the click is not for that one.
    await untilTrue(
      other,
      `(() => {
        const [newer, below] = ["Show newer messages", "Jump to latest"].map((text) =>
          [...document.querySelectorAll("button")].find(({ textContent }) => textContent.includes(text)),
        );
        const scroller = below.parentElement;
        const { bottom } = newer.getBoundingClientRect();
        const { left, top, width, height } = below.getBoundingClientRect();
        const end = height > 0 ? top + height : scroller.getBoundingClientRect().bottom;
        scroller.scrollTop += bottom - end;
        return height > 0 && Math.abs(bottom - end) < 4 && newer.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      })()`,
    );
    await other.getByRole("button", { name: "Show newer messages" }).click();
    await there.getByText(question(60), { exact: true }).waitFor({ state: "attached" });
    await other.getByRole("button", { name: "Show older messages" }).press("Enter");
    await there.getByText(question(26), { exact: true }).waitFor({ state: "attached" });
    // Who speaks does so at the end.
    await other.getByRole("textbox", { name: "Message" }).fill("and now?");
    await other.getByRole("button", { name: "Send" }).click();
    await there.getByText("and that is why").waitFor();
    await there.getByText(question(300), { exact: true }).waitFor({ state: "attached" });
    await other.close();
  });

  test("versions of a message are counted where others stand between", async () => {
    await page.getByRole("button", { name: "Retry", exact: true }).last().click();
    await log().getByText("2 / 2").waitFor();
    await page.reload();
    await log().getByText("2 / 2").waitFor();
    await page.getByRole("button", { name: "Previous version" }).click();
    await log().getByText("1 / 2").waitFor();
  });

  test("complains of nothing", () => assert.deepEqual(browser.complaints(), []));
});
