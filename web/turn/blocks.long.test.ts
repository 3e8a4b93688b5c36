import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  untilTrue,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { png } from "../../test/page-tools.ts";
import { createClient } from "../../src/client/client.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

let answers: ScriptAnswer[] = [];
const fenced = (language: string, code: string) => ["```" + language, code, "```", ""].join("\n");

describe("what models write, whatever it is", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 900 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });
  const say = (text: string) => sayOn(page, text);
  const log = () => page.getByRole("log");

  test("a diagram is drawn; what can't be drawn stays code and says why", async () => {
    answers = [
      `Two of them:\n\n${fenced("mermaid", "flowchart LR\n  A[Egg] --> B[Heron]")}\nand\n\n${fenced("mermaid", "flowchart LR\n  A[[[ --> nothing")}\nThat is all.`,
    ];
    await say("draw");
    await log().getByRole("button", { name: "Enlarge Diagram" }).waitFor();
    await log()
      .getByText(/Couldn't draw this diagram: Parse error on line \d+: .*\[\[\[/)
      .waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const light = await log().getByRole("img", { name: "Diagram" }).getAttribute("src");
    await page.emulateMedia({ colorScheme: "dark" });
    await log().locator(`img[alt="Diagram"]:not([src="${light}"])`).waitFor();
    assert.deepEqual(await violationsOf(page), [], "dark");
    const dark = await log().getByRole("img", { name: "Diagram" }).getAttribute("src");
    assert.doesNotMatch(decodeURIComponent(dark!), /filter: ?(?:drop-shadow|url)/, "no glow");
    await page.emulateMedia({ colorScheme: "light" });
    await log().getByRole("button", { name: "Enlarge Diagram" }).click();
    await page.getByRole("dialog", { name: "Diagram" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("what a text is made of stands below its turn, and in its width", async () => {
    const long = "long-".repeat(60);
    answers = [`## Plan\n\nhttps://example.com/${long} and \`${long}\`\n\n- [x] bought\n- [ ] cooked`, " ", " "];
    await say("headings");
    await log().getByRole("heading", { level: 3, name: "Plan" }).waitFor();
    await log().getByText("cooked").waitFor();
    await untilTrue(
      page,
      `document.querySelector("[role=log]").scrollWidth <= document.querySelector("[role=log]").clientWidth`,
    );
    assert.equal(
      await page.evaluate(`getComputedStyle(document.querySelector(".task-list-item")).listStyleType`),
      "none",
    );
    await say("and now?");
    await log().getByText("gave no answer, twice").waitFor();
  });

  test("nothing in a text acts, and names of the language itself are only names", async () => {
    answers = [
      [
        {
          text: [
            "[a link](javascript:alert(1)) and [another](data:text/html,x)",
            fenced("constructor", "__proto__"),
            fenced(
              "mermaid",
              'flowchart LR\n  A["<img src=x onerror=alert(1)>"] --> B\n  click B "javascript:alert(1)"',
            ),
            "$$\\href{javascript:alert(1)}{x} \\includegraphics{https://example.com/x.png}$$",
            "$$\\def\\a{\\a\\a}\\a$$",
          ].join("\n\n"),
        },
        { call: "toString", arguments: '{"__proto__":{"x":1},"constructor":"y"}' },
      ],
      "done with it",
    ];
    await say("be bad");
    await log().getByText("done with it").waitFor();
    await log().getByText("toString", { exact: true }).click();
    assert.equal(await page.locator('[href^="javascript"], [href^="data:text"]').count(), 0);
  });

  test("files that a text names by their paths are those of the conversation; what is none is text", async () => {
    await page.goto(server.url);
    answers = ["Begun."];
    await say("begin");
    await log().getByText("Begun.").waitFor();
    const { files } = createClient({ url: server.url });
    const threadId = /[0-9a-f-]{36}$/.exec(page.url())![0];
    await files.upload({ threadId, path: "charts/plot.png" }, new Uint8Array(png));
    await files.upload({ threadId, path: "über uns.csv" }, "a,b\n1,2\n");
    answers = [
      [
        "[the table](<über uns.csv>), [the chart](./charts/plot.png), [nothing](gone.csv), [outside](../secret.txt),",
        "[a place](#here), [a guess](example.com/page), [the web](https://example.com/page)",
        "",
        "![plotted](charts/plot.png) ![never plotted](charts/gone.png)",
      ].join("\n"),
    ];
    await say("where is it?");
    const said = log().getByText("the table, the chart, nothing, outside, a place, a guess, the web");
    await said.waitFor();
    await said.getByRole("link", { name: "the table" }).waitFor();
    await said.getByRole("link", { name: "the chart" }).waitFor();
    await log().getByRole("img", { name: "plotted", exact: true }).waitFor();
    await log().getByText("never plotted").waitFor();
    assert.deepEqual(await said.getByRole("link").evaluateAll((links) => links.map(({ textContent }) => textContent)), [
      "the table",
      "the chart",
      "the web",
    ]);
    const saved = page.waitForEvent("download");
    await said.getByRole("link", { name: "the table" }).click();
    assert.equal((await saved).suggestedFilename(), "über uns.csv");
    assert.deepEqual(await violationsOf(page), []);
    await pictureOf(page, "files by their paths");
  });

  test("markdown: the box of a task list is named by its state", async () => {
    answers = ["To pack:\n\n- [x] the tent\n- [ ] the stove\n\n  with gas\n"];
    await say("what is left to pack?");
    await log().getByRole("checkbox", { name: "Completed", exact: true, checked: true }).waitFor();
    await log().getByRole("checkbox", { name: "Not completed", exact: true, checked: false }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test("markdown: a code block of more than 50,000 characters is still code, and is copied whole", async () => {
    const code = Array.from({ length: 2500 }, (_, at) => `const fox${at} = jump(over, the, dog);`).join("\n\n");
    assert.ok(code.length > 50_000);
    answers = [`Here **it** is:\n${fenced("js", code)}And *that* is all.`];
    await say("write much code");
    await log().locator("em", { hasText: "that" }).waitFor();
    await log().locator("strong", { hasText: "it" }).waitFor();
    const block = log().getByRole("region", { name: "js", exact: true }).last();
    assert.equal((await block.textContent())?.trimEnd(), code);
    await block.locator(".hljs-keyword").first().waitFor();
    assert.ok((await block.locator(".hljs-keyword").count()) < 1000, "coloured where it is seen");
    assert.equal((await block.textContent())?.trimEnd(), code, "with its colours too");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await log().getByRole("button", { name: "Copy code" }).last().click();
    await log().getByRole("button", { name: "Copied" }).waitFor();
    assert.equal((await page.evaluate<string>("navigator.clipboard.readText()")).trimEnd(), code);
  });

  test("a text of a megabyte and a table without end leave the page at work", async () => {
    const table = `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(8000)}`;
    answers = [`${table}\n\nafter it\n\n${"word ".repeat(200_000)}`];
    await say("much");
    await log()
      .getByRole("button", { name: /Show [\d,]+ more/ })
      .waitFor({ timeout: 60_000 });
    const before = Date.now();
    await page.getByRole("textbox", { name: "Message" }).fill("still here");
    assert.ok(Date.now() - before < 5000, "the page answers");
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
