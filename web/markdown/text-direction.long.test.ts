import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

const markdown = `# כותרת ראשית

פסקה עם \`npm test\` בתוכה.

- פריט ראשון
- An item in English

  ועוד פסקה בתוכו

> ציטוט של מישהו

| שם | ערך שנמצא בעמודה רחבה |
|---|---|
| אחת | two |

\`\`\`js
// הערה
const a = 1;
\`\`\`

And English again.
`;

describe("text direction", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let answers: ScriptAnswer[] = [];
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1000, height: 1200 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });
  const log = () => page.getByRole("log");
  /** On which side the text of an element begins. */
  const sideOf = (found: Locator): Promise<"left" | "right"> =>
    found.evaluate((element) => {
      const view = element.ownerDocument;
      const range = view.createRange();
      range.selectNodeContents(element);
      const box = range.getBoundingClientRect();
      const { left, right } = element.getBoundingClientRect();
      return right - box.right < box.left - left ? "right" : "left";
    });

  test("what people write reads from the side of its script", async () => {
    answers = [markdown];
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("שלום, מה שלומך?");
    assert.equal(await field.evaluate((element) => element.matches(":dir(rtl)")), true, "the composer");
    await sayOn(page, "שלום, מה שלומך?");
    await log().getByText("And English again.").waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    const bubble = log().getByText("שלום, מה שלומך?");
    assert.equal(await bubble.evaluate((element) => element.matches(":dir(rtl)")), true, "the bubble");
    const title = page.getByRole("heading", { level: 1, name: "שלום" });
    assert.equal(await title.evaluate((element) => element.matches(":dir(rtl)")), true, "the title");
    const entry = page.getByRole("navigation", { name: "Conversations" }).getByText("שלום");
    assert.equal(await entry.evaluate((element) => element.matches(":dir(rtl)")), true, "the list");
  });

  test("what models write does so too, in every block of its own", async () => {
    for (const [what, text, side] of [
      ["a heading", "כותרת ראשית", "right"],
      ["a paragraph", "פסקה עם", "right"],
      ["an item", "פריט ראשון", "right"],
      ["an item of another script", "An item in English", "left"],
      ["a paragraph in an item", "ועוד פסקה", "right"],
      ["a quotation", "ציטוט", "right"],
      ["a cell", "שם", "right"],
      ["a cell of another script", "two", "left"],
      ["English", "And English again.", "left"],
    ] as const)
      assert.equal(await sideOf(log().locator(".prose-page").getByText(text).last()), side, what);
  });

  test("marks of a list and the rule of a quotation stand on the side where the text begins", async () => {
    const item = log().getByRole("listitem").filter({ hasText: "פריט ראשון" });
    const style = (found: Locator, name: string): Promise<string> =>
      found.evaluate((element, property) => {
        const { defaultView } = element.ownerDocument;
        return defaultView!.getComputedStyle(element).getPropertyValue(property);
      }, name);
    assert.notEqual(await style(item, "margin-right"), "0px");
    assert.equal(await style(item, "margin-left"), "0px");
    assert.equal(await style(log().locator("blockquote"), "border-right-width"), "2px");
    assert.equal(await style(log().locator("blockquote"), "border-left-width"), "0px");
  });

  test("code stays from left to right", async () => {
    assert.equal(await sideOf(log().getByRole("region", { name: "js" }).locator("code")), "left");
    const inline = log().locator(".prose-page p > code");
    assert.equal(await inline.evaluate((element) => element.matches(":dir(ltr)")), true);
    await pictureOf(page, "text from the right");
    assert.deepEqual(await violationsOf(page), []);
  });
});
