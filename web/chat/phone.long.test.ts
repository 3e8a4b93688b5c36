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
import { pictureOf } from "../../test/page-pictures.ts";
import { mail } from "../../test/page-tools.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

describe("the message field on a phone, in German", { skip: skipBrowser }, () => {
  let answers: ScriptAnswer[] = [];
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      () => answers.shift() ?? "fertig",
      {},
      { tools: [mail], approval: { ask: ["send_mail"] } },
    );
    browser = await openBrowser();
    page = await browser.open(server.url, {
      viewport: { width: 360, height: 740 },
      locale: "de-DE",
      hasTouch: true,
    });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  /** Boxes of what one sees in the row below the field; none may lie on another one. */
  async function looksCalm(state: string): Promise<void> {
    const boxes = (await page.evaluate(
      `[...document.querySelectorAll(".composer-row button, .composer-row .demo-badge, .composer-row label")]
        .map((each) => { const { left, right, top, bottom } = each.getBoundingClientRect(); return { left, right, top, bottom }; })
        .filter(({ left, right }) => right > left)`,
    )) as readonly { left: number; right: number; top: number; bottom: number }[];
    assert.ok(boxes.length >= 3, state);
    for (const [at, one] of boxes.entries())
      for (const other of boxes.slice(at + 1))
        assert.ok(
          one.right <= other.left + 0.5 ||
            other.right <= one.left + 0.5 ||
            one.bottom <= other.top + 0.5 ||
            other.bottom <= one.top + 0.5,
          `${state}: ${JSON.stringify([one, other])}`,
        );
    const height = (await page.evaluate(
      `document.querySelector(".composer-row").getBoundingClientRect().height`,
    )) as number;
    assert.ok(height <= 48, `${state}: one row, not ${height}px`);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
    assert.deepEqual(await violationsOf(page), [], state);
  }

  test("one calm row, at rest and while an agent works", async () => {
    await page.getByRole("button", { name: "Senden" }).waitFor();
    await page.locator(".picker-button").nth(1).waitFor();
    await looksCalm("at rest");
    await page.getByRole("combobox", { name: /^Modell:/ }).click();
    await page.getByRole("option", { name: /^demo/ }).click();
    await page.locator(".demo-badge").waitFor();
    await looksCalm("with the demo model");
    await untilTrue(
      page,
      `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector(".picker-button .truncate"))`,
    );
    assert.equal(await page.getByText("Kein Sprachmodell verbunden").count(), 0, "there is another model");
    await page.getByRole("combobox", { name: /^Modell:/ }).click();
    await page.getByRole("option", { name: /^Standardmodell/ }).click();
    const held = Promise.withResolvers<void>();
    answers = [[{ text: "Ich denke" }, { gate: () => held.promise }]];
    await page.getByRole("textbox", { name: "Nachricht" }).fill("Hallo");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Anhalten" }).waitFor();
    assert.equal(await page.getByRole("combobox", { name: /^(Agent|Modell):/ }).count(), 2);
    await looksCalm("at work");
    await pictureOf(page, "phone at work");
    await page.getByRole("textbox", { name: "Nachricht" }).fill("Noch etwas");
    const choose = async (name: string) => {
      await page.getByRole("button", { name: /^Wann senden: / }).click();
      await page.getByRole("menuitemcheckbox", { name }).click();
      await page.getByRole("button", { name: `Wann senden: ${name}` }).waitFor();
      await page.getByRole("menu").waitFor({ state: "detached" });
    };
    await choose("Jetzt einwerfen");
    await looksCalm("at work, with more to say");
    await pictureOf(page, "phone at work typing");
    await choose("Einreihen");
    await page.getByRole("textbox", { name: "Nachricht" }).fill("");
    held.resolve();
    await page.locator("[role=log][aria-busy=false]").waitFor();
  });

  test("a conversation of the list has its deeds in one menu", async () => {
    await page.getByRole("button", { name: "Gespräche anzeigen" }).click();
    await page.getByRole("link", { name: "Hallo" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Umbenennen/ }).count(), 0);
    await page.getByRole("button", { name: "Weitere Optionen: Hallo" }).click();
    assert.deepEqual(await violationsOf(page), []);
    await pictureOf(page, "phone list");
    await page.getByRole("menuitem", { name: "Umbenennen" }).click();
    await page.getByRole("textbox", { name: "Umbenennen" }).fill("Guten Tag");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Guten Tag" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("a call that waits for the decision about another one says so", async () => {
    answers = [
      [
        { call: "calculate", arguments: { expression: "6*7" } },
        { call: "send_mail", arguments: { to: "ann" } },
      ],
      "Beides getan.",
    ];
    await page.getByRole("textbox", { name: "Nachricht" }).fill("Rechne und schreibe");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("wartet auf Ihre Freigabe").waitFor();
    await page.getByRole("button", { name: "Erlauben", exact: true }).click();
    await page.getByRole("log").getByText("Beides getan.").waitFor();
    assert.equal(await page.getByRole("log").getByText("wartet auf Ihre Freigabe").count(), 0);
    assert.deepEqual(browser.complaints(), []);
  });
});
