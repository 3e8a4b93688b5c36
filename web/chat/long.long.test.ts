import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { seedThread } from "../../test/long-thread.ts";
import { createClient } from "../../src/client/client.ts";

/** What stands first on the page. */
type PageTop = { readonly texts: readonly string[]; readonly turns: number; readonly first: string };
const top = `(() => {
  const turns = [...document.querySelectorAll("[role=log] .turn")];
  const texts = turns.map(({ textContent }) => textContent);
  return { texts, turns: turns.length, first: turns[0].textContent };
})()`;
const hasOther = (first: string) => `new Promise((resolve, reject) => {
  const late = setTimeout(() => reject(new Error("a press was lost")), 20000);
  const look = () => {
    if (document.querySelector("[role=log] .turn").textContent === ${JSON.stringify(first)}) return requestAnimationFrame(look);
    clearTimeout(late);
    resolve();
  };
  look();
})`;

const turnsOf = (page: Page) => page.locator("[role=log] .turn").count();

describe("ten thousand messages", { skip: skipBrowser, timeout: 600_000 }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  before(async () => {
    server = await servePage(() => "and that is why");
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  /** Presses until this text is there: no press is lost, and what is on the page never grows beyond `most`. */
  async function readUpTo(page: Page, text: string, most: number): Promise<void> {
    await page.getByRole("button", { name: "Show older messages" }).focus();
    for (let presses = 0; presses < 400; presses++) {
      const { texts, turns, first } = await page.evaluate<PageTop>(top);
      assert.ok(turns <= most, `${turns} turns`);
      if (texts.some((each) => each.includes(text))) return;
      await page.keyboard.press("Enter");
      await page.evaluate(hasOther(first));
    }
    assert.fail(`${text} was not reached`);
  }

  test("are read to their beginning, and from there back to the end", { timeout: 450_000 }, async () => {
    const owner = server.caller.userId;
    const thread = await seedThread(server.database.query, { owner, title: "Foxes", messages: 10_000 });
    const page = await browser.open(`${server.url}/chat/${thread}`, { viewport: { width: 1200, height: 800 } });
    await page.getByText("Answer 5000.").waitFor();
    await readUpTo(page, "Question 1: why does the fox jump?", 130);
    assert.equal(await page.getByRole("button", { name: "Show older messages" }).count(), 0);
    await page.getByRole("textbox", { name: "Message" }).fill("and now?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("and that is why").waitFor();
    await page.getByText("Question 5000: why does the fox jump?").waitFor({ state: "attached" });
    await page.close();
  });

  test("of a room, too", { timeout: 120_000 }, async () => {
    const client = createClient({ url: server.url });
    const { kinds } = await client.rooms.list();
    const room = await client.rooms.create({ kind: kinds[0]!.id, title: "Foxes" });
    const owner = server.caller.userId;
    const agent = room.members.find(({ kind }) => kind === "agent")!.handle;
    await seedThread(server.database.query, { owner, title: "Foxes", messages: 5000, agent, into: room.id });
    const page = await browser.open(`${server.url}/rooms/${room.id}`, { viewport: { width: 1200, height: 800 } });
    await page.getByText("Answer 2500.").waitFor();
    assert.ok((await turnsOf(page)) <= 60);
    assert.deepEqual(await violationsOf(page), []);
    await readUpTo(page, "Question 2350: why does the fox jump?", 800);
    await page.close();
  });

  test("complain of nothing", () => assert.deepEqual(browser.complaints(), []));
});
