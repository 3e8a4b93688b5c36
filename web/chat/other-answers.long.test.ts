import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type Client, createClient } from "../../src/client/client.ts";
import { createScripted, type ScriptAnswer } from "../../src/models/demo/scripted.ts";
import {
  agree,
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";

/** What models were told, the last request of each. */
const told: Record<string, string> = {};
let answers: ScriptAnswer[] = [];

describe("other answers than the first", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let client: Client;
  before(async () => {
    server = await servePage(
      ({ messages }) => {
        told["default"] = JSON.stringify(messages);
        return answers.shift() ?? "nothing more to say";
      },
      {
        other: createScripted(({ messages }) => {
          told["other"] = JSON.stringify(messages);
          return "the other model's words";
        }),
      },
    );
    client = createClient(server);
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1400, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = () => page.getByRole("log");
  const say = async (text: string) => {
    await page.getByRole("textbox", { name: "Message" }).fill(text);
    await page.keyboard.press("Enter");
  };
  const settled = () => page.locator("[role=log][aria-busy=false]").waitFor();
  const findsNothing = async (state: string) => assert.deepEqual(await violationsOf(page), [], state);
  const threadId = () => /chat\/([\w-]+)/.exec(page.url())![1]!;

  test("an answer is edited: beside the first, marked, and what is said next reads it", async () => {
    answers = ["It opens at **noon**.", "You're welcome."];
    await say("when does it open?");
    await log().getByText("It opens at").waitFor();
    await settled();
    const turn = log().locator("[data-role=assistant]");
    await turn.getByRole("button", { name: "Edit answer" }).click();
    const field = log().getByRole("textbox", { name: "Edit" });
    assert.equal(await field.inputValue(), "It opens at **noon**.");
    await findsNothing("editing");
    await field.fill("It opens at half past noon.");
    await log().getByRole("button", { name: "Save", exact: true }).click();
    await log().getByText("It opens at half past noon.").waitFor();
    await turn.getByText("Edited").waitFor();
    await turn.getByText("2 / 2").waitFor();
    await page.reload();
    await turn.getByText("Edited").waitFor();
    await say("thanks");
    await log().getByText("You're welcome.").waitFor();
    assert.match(told["default"]!, /half past noon/);
    assert.doesNotMatch(told["default"]!, /\*\*noon/);
    await settled();
    await log().getByRole("button", { name: "Previous version" }).click();
    await log().getByText("It opens at noon.").waitFor();
    assert.equal(await log().getByText("Edited").count(), 0);
  });

  test("another model answers once, and is named", async () => {
    await page.goto(server.url);
    answers = ["the first words"];
    await say("say something");
    await log().getByText("the first words").waitFor();
    await settled();
    await log().getByRole("button", { name: "Retry with another model" }).click();
    await findsNothing("models");
    await page.getByRole("menuitem", { name: "other", exact: true }).click();
    await log().getByText("the other model's words").waitFor();
    await log()
      .getByRole("heading", { name: /@assistant.*other/ })
      .waitFor();
    await settled();
    answers = ["the usual one again"];
    await say("and now?");
    await log().getByText("the usual one again").waitFor();
  });

  test("a copy has its form, for programs that take it, and Markdown for the others", async () => {
    await page.goto(server.url);
    answers = ["It is **bold**."];
    await say("write boldly");
    await log().getByText("bold", { exact: true }).waitFor();
    await settled();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await log().locator("[data-role=assistant]").getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate<string[]>(`navigator.clipboard.read().then(async ([item]) =>
      Promise.all(["text/plain", "text/html"].map(async (type) => (await item.getType(type)).text())))`);
    assert.equal(copied[0], "It is **bold**.");
    assert.match(copied[1]!, /<strong>bold<\/strong>/);
  });

  test("settings of a conversation stand beside it, at an address of their own", async () => {
    await page.getByRole("button", { name: "Conversation settings" }).click();
    const panel = page.getByRole("complementary", { name: "Conversation settings" });
    await panel.getByLabel("Instructions").fill("Answer in rhyme.");
    await panel.getByLabel("Model").selectOption("other");
    await findsNothing("settings");
    await panel.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. It counts from the next message on.").waitFor();
    await page.reload();
    assert.equal(await panel.getByLabel("Instructions").inputValue(), "Answer in rhyme.");
    await say("once more");
    await log().getByText("the other model's words").waitFor();
    assert.match(told["other"]!, /Answer in rhyme\./);
    await settled();
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "detached" });
    assert.doesNotMatch(page.url(), /panel/);
  });

  test("a temporary conversation is in no list, and goes when it is closed", async () => {
    await page.goto(server.url);
    await page.getByRole("button", { name: "Temporary conversation" }).click();
    await page.getByText("Temporary: in no list").waitFor();
    await findsNothing("temporary");
    answers = ["between us"];
    await say("a secret");
    await log().getByText("between us").waitFor();
    await settled();
    const id = threadId();
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: "write boldly" }).waitFor();
    assert.equal(await list.getByRole("link", { name: "a secret" }).count(), 0);
    await page.getByRole("main").getByRole("button", { name: "Close", exact: true }).click();
    await agree(page, "Close and delete");
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await assert.rejects(client.thread(id), { status: 404 });
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
