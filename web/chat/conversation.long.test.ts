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
import { createScripted, type ScriptAnswer } from "../../src/models/demo/scripted.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";
import { ModelError } from "../../src/protocol/base/errors.ts";

describe("the frame of a conversation", { skip: skipBrowser }, () => {
  let answers: ScriptAnswer[] = [];
  let isDown = false;
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      () => {
        if (isDown) throw new ModelError("unreachable", "nobody is there", { retryable: false });
        return answers.shift() ?? "nothing more to say";
      },
      { other: createScripted(() => "the other model") },
      {
        agents: [agentSchema.parse({ id: "poet", description: "Writes verse", model: "demo", tools: [] })],
        tools: [],
      },
    );
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 }, serviceWorkers: "block" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = () => page.getByRole("log");
  const field = () => page.getByRole("textbox", { name: "Message" });
  const say = async (text: string) => {
    await field().fill(text);
    await page.keyboard.press("Enter");
  };
  const settled = () => page.locator("[role=log][aria-busy=false]").waitFor();
  const choose = async (entry: string) => {
    await page.getByRole("main").getByRole("button", { name: "More options" }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };
  const findsNothing = async (state: string, where = page) => assert.deepEqual(await violationsOf(where), [], state);

  test("a conversation that could not be read is read again", async () => {
    await page.goto(server.url);
    answers = ["Here it is."];
    await say("keep this");
    await log().getByText("Here it is.").waitFor();
    await settled();
    await page.route("**/api/threads/*/items*", (route) => route.abort("connectionreset"));
    await page.reload();
    const again = log().getByRole("button", { name: "Try again" });
    await again.waitFor();
    await log().getByRole("link", { name: "New conversation" }).waitFor();
    await findsNothing("not read");
    await page.unroute("**/api/threads/*/items*");
    await again.click();
    await log().getByText("Here it is.").waitFor();
    assert.equal(await log().getByRole("alert").count(), 0);
  });

  test("one that is left while it is read leaves nothing in the next", async () => {
    const first = page.url();
    await page.getByRole("navigation", { name: "Conversations" }).getByRole("button", { name: "New conv" }).click();
    answers = ["There it is."];
    await say("and this");
    await log().getByText("There it is.").waitFor();
    await settled();
    const around = /\/items\?.*around=/;
    const over = Promise.withResolvers<void>();
    await page.route(around, async (route) => {
      await over.promise;
      await route.abort("connectionreset").catch(() => undefined);
    });
    const asked = page.waitForRequest(around);
    await page.goto(`${first}?item=${crypto.randomUUID()}`);
    await asked;
    const items = /\/items\?.*order=desc/;
    const held = Promise.withResolvers<void>();
    await page.route(items, async (route) => {
      await held.promise;
      await route.continue();
    });
    const next = page.waitForRequest(items);
    await page.getByRole("link", { name: "and this" }).click();
    await next;
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown, 50)))");
    await log().getByText("Loading…").waitFor({ timeout: 2000 });
    held.resolve();
    await log().getByText("There it is.").waitFor();
    await page.unroute(items);
    // Nor does a title that was being changed.
    await page.getByRole("heading", { level: 1, name: "and this" }).dblclick();
    await page.getByRole("textbox", { name: "Rename" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "keep this" }).waitFor();
    await page.getByRole("textbox", { name: "Rename" }).waitFor({ state: "detached" });
    over.resolve();
    await log().getByRole("alert").waitFor();
    await page.unroute(around);
  });

  test("one that others began, and in which nothing was said, can be begun with a sample", async () => {
    const made = await fetch(`${server.url}/api/threads`, { method: "POST", body: '{ "title": "Empty" }' });
    const { id } = (await made.json()) as { id: string };
    await page.goto(`${server.url}/chat/${id}`);
    answers = ["Begun."];
    await log().getByRole("button", { name: /tasks/i }).first().click();
    await log().getByText("Begun.").waitFor();
    assert.equal(new URL(page.url()).pathname, `/chat/${id}`);
  });

  test("what is said stands there at once, however late the server hears of it", async () => {
    await page.getByRole("navigation", { name: "Conversations" }).getByRole("button", { name: "New conv" }).click();
    const held = { thread: Promise.withResolvers<void>(), events: Promise.withResolvers<void>() };
    await page.route(/\/api\/threads$/, async (route) => {
      await held.thread.promise;
      await route.continue();
    });
    await page.route("**/api/threads/*/events*", async (route) => {
      await held.events.promise;
      await route.continue();
    });
    answers = ["Slowly, then.", "And again."];
    for (const text of ["slowly", "once more"]) {
      await say(text);
      await log().getByText(text, { exact: true }).waitFor();
      assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "");
      assert.equal(await log().getByRole("heading", { name: "What can I help with?" }).count(), 0);
      if (text === "slowly") await page.getByRole("status").getByText("Sending…").waitFor();
      await findsNothing(`${text} is on its way`);
      held.thread.resolve();
      await page.waitForURL(/\/chat\//);
      held.events.resolve();
      await log()
        .getByText(text === "slowly" ? "Slowly, then." : "And again.")
        .waitFor();
      await settled();
      assert.equal(await log().getByText(text, { exact: true }).count(), 1);
    }
    await page.unroute(/\/api\/threads$/);
    await page.unroute("**/api/threads/*/events*");
  });

  test("that a message has arrived, told late, takes nothing away of the next one", async () => {
    const [late, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route("**/api/threads/*/runs", async (route) => {
      const response = await route.fetch();
      await late.promise;
      await route.fulfill({ response });
    });
    answers = ["First.", "Second."];
    await say("the first");
    await log().getByText("First.").waitFor();
    await settled();
    await page.getByRole("navigation", { name: "Conversations" }).getByRole("button", { name: "New conv" }).click();
    await page.route(/\/api\/threads$/, async (route) => {
      await next.promise;
      await route.continue();
    });
    await say("the second");
    await log().getByText("the second", { exact: true }).waitFor();
    const told = page.waitForResponse("**/api/threads/*/runs");
    late.resolve();
    await (await told).finished();
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown, 50)))");
    assert.equal(await log().getByText("the second", { exact: true }).count(), 1);
    next.resolve();
    await log().getByText("Second.").waitFor();
    await settled();
    await page.unroute(/\/api\/threads$/);
    await page.unroute("**/api/threads/*/runs");
  });

  test("an answer that got lost on its way does nothing twice", async () => {
    await page.goto(server.url);
    const before = server.model.requests.length;
    answers = ["once only"];
    await page.route("**/api/threads/*/runs", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await say("said once");
    await log().getByRole("alert").filter({ hasText: "Not sent:" }).waitFor();
    await page.unroute("**/api/threads/*/runs");
    await log().getByRole("button", { name: "Send again" }).click();
    await log().getByText("once only").waitFor();
    await settled();
    assert.equal(server.model.requests.length, before + 1);
    assert.equal(await log().getByText("said once").count(), 1);
  });

  test("what can't be sent comes back although it is not known yet who one is", async () => {
    const known = Promise.withResolvers<void>();
    await page.route("**/api/auth/me", async (route) => {
      await known.promise;
      await route.continue();
    });
    await page.route("**/api/threads/*/runs", (route) => route.abort("connectionreset"));
    await page.goto(server.url);
    answers = ["said after all"];
    await say("said early");
    await log().getByRole("alert").filter({ hasText: "Not sent:" }).waitFor();
    const isBack = `document.querySelector("[data-composer]")?.value === "said early"`;
    await untilTrue(page, isBack);
    await page
      .locator("input[type=file]")
      .setInputFiles([{ name: "early.txt", mimeType: "text/plain", buffer: Buffer.from("early") }]);
    known.resolve();
    await page.getByRole("button", { name: "Remove early.txt" }).click();
    await untilTrue(page, isBack);
    await page.unroute("**/api/auth/me");
    await page.unroute("**/api/threads/*/runs");
    await log().getByRole("button", { name: "Send again" }).click();
    await log().getByText("said after all").waitFor();
    await settled();
  });

  test("who answers is chosen with what it is and how it does; the address names one", async () => {
    await page.goto(`${server.url}/?agent=poet`);
    await page.getByText("Demo model", { exact: true }).waitFor();
    await findsNothing("demo");
    await page.getByRole("combobox", { name: "Agent: @poet" }).click();
    const list = page.getByRole("listbox", { name: "Agent" });
    await list.getByRole("option", { name: /Writes verse.*uses demo/ }).waitFor();
    await findsNothing("agents");
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "Model: Default model" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("option", { name: /^other/ }).waitFor();
    await findsNothing("models");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("listbox").waitFor({ state: "detached" });
  });

  test("the title of what is said first is changed in place", async () => {
    await page.goto(server.url);
    answers = ["Good evening."];
    await say("Good evening to you. How are things?");
    await log().getByText("Good evening.", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Good evening to you", exact: true }).waitFor();
    await choose("Rename");
    await page.getByRole("textbox", { name: "Rename" }).fill("An evening");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "An evening" }).waitFor();
    await page.locator("h1:focus").waitFor();
    await page.getByRole("navigation").getByText("An evening").waitFor();
  });

  test("other words, without another answer; no words are refused", async () => {
    await settled();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const words = page.getByRole("textbox", { name: "Edit" });
    await words.fill("  ");
    assert.equal(await page.getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
    assert.equal(await page.getByRole("button", { name: "Save and rerun" }).isDisabled(), true);
    await findsNothing("edit");
    const asked = server.model.requests.length;
    await words.fill("Good night to you.");
    await page.keyboard.press("Control+s");
    await log().getByText("Good night to you.").waitFor();
    await log().getByText("Good evening.", { exact: true }).waitFor();
    await log().getByText("2 / 2").waitFor();
    assert.equal(server.model.requests.length, asked);
    await page.reload();
    await log().getByText("Good night to you.").waitFor();
    await log().getByText("Good evening.", { exact: true }).waitFor();
  });

  test("it goes on elsewhere from a turn", async () => {
    const before = page.url();
    await page.getByRole("button", { name: "Fork from here" }).last().click();
    await page.waitForURL((url) => url.href !== before);
    await page.getByRole("heading", { name: / \(2\)$/ }).waitFor();
    await log().getByText("Good night to you.").waitFor();
    await log().getByText("Good evening.", { exact: true }).waitFor();
    answers = ["Elsewhere it is."];
    await say("and here?");
    await log().getByText("Elsewhere it is.").waitFor();
    await page.goto(before);
    await log().getByText("Good evening.", { exact: true }).waitFor();
    assert.equal(await log().getByText("Elsewhere it is.").count(), 0);
  });

  test("a link is read by whoever has it, and withdrawn", async () => {
    await choose("Share…");
    const dialog = page.getByRole("dialog", { name: "Share a link" });
    await dialog.getByText("No links yet").waitFor();
    await dialog.getByRole("button", { name: "Create link" }).click();
    const link = await dialog.locator("code").innerText();
    assert.match(link, /\/shared\/[\w-]+$/);
    await dialog.getByRole("button", { name: /^Revoke/ }).waitFor();
    await findsNothing("share");
    const other = await browser.open(link, { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
    await other.getByRole("heading", { name: "An evening" }).waitFor();
    await other.getByText("Good night to you.").waitFor();
    assert.equal(await other.getByRole("textbox").count(), 0);
    assert.equal(await other.evaluate("document.documentElement.scrollWidth"), 360);
    await findsNothing("shared", other);
    await other.close();
    await dialog.getByRole("button", { name: /^Revoke/ }).click();
    await dialog.getByText("No links yet").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("it is saved as a file", async () => {
    const download = page.waitForEvent("download");
    await choose("Download as Markdown");
    assert.equal((await download).suggestedFilename(), "An-evening.md");
  });

  test("what is typed stays, over a reload and from conversation to conversation", async () => {
    await field().fill("half a thought");
    await page.reload();
    await untilTrue(page, `document.querySelector("[data-composer]")?.value === "half a thought"`);
    await page.getByRole("button", { name: "New conversation" }).click();
    await untilTrue(page, `document.querySelector("[data-composer]")?.value === ""`);
    await page.goBack();
    await untilTrue(page, `document.querySelector("[data-composer]")?.value === "half a thought"`);
    await field().fill("");
  });

  test("a model that is away: why, and again", async () => {
    isDown = true;
    await say("are you there?");
    await log().getByText("nobody is there").waitFor();
    const told = page.getByRole("status").filter({ hasText: "The answer failed." });
    await told.waitFor();
    const button = log().getByRole("button", { name: "Retry", exact: true }).filter({ hasText: "Retry" });
    const before = await button.boundingBox();
    // Who comes back to the window has it looked up; the server tells so once in ten seconds.
    await page.evaluate(`void (globalThis.looking = setInterval(() => dispatchEvent(new Event("focus")), 200))`);
    await told.getByText("script is not responding.").waitFor();
    await page.evaluate("clearInterval(looking)");
    assert.deepEqual(await button.boundingBox(), before);
    await findsNothing("failed");
    isDown = false;
    answers = ["Here I am."];
    await told.getByRole("button", { name: "Dismiss" }).click();
    await told.getByText("is not responding").waitFor({ state: "detached" });
    // Nothing moves under a finger when such news comes or goes.
    assert.deepEqual(await button.boundingBox(), before);
    await button.click();
    await log().getByText("Here I am.").waitFor();
    await settled();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    // Answers were lost and the service worker was kept out on purpose.
    assert.deepEqual(
      browser.complaints().filter((text) => !/ERR_CONNECTION_RESET|blocked by Playwright/.test(text)),
      [],
    );
  });
});
