import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { z } from "zod";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";
import { createClient } from "../../src/client/client.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";

const sent: unknown[] = [];
const mail = defineTool({
  name: "send_mail",
  description: "Sends a mail.",
  input: z.object({
    to: z.string().min(3).describe("Whom it goes to"),
    urgent: z.boolean().optional(),
    copies: z.int().min(0).max(5).default(0),
    tone: z.enum(["kind", "plain"]).optional(),
    lines: z.array(z.string()).optional(),
    sender: z.object({ name: z.string() }).optional(),
  }),
  effect: "write",
  execute(input) {
    sent.push(input);
    return `sent to ${input.to}`;
  },
});
const worker = agentSchema.parse({
  id: "worker",
  model: "default",
  tools: ["add_task"],
  instructions: "You are the worker.",
});
const boss = agentSchema.parse({
  id: "boss",
  model: "default",
  tools: ["send_mail"],
  agents: ["worker"],
  instructions: "You are the boss.",
});

let gate = Promise.withResolvers<void>();

/** The boss has the worker add a task, sends a mail, and says so. */
function answer(system: string, last: { readonly role: string; readonly content: unknown }): ScriptAnswer {
  const text = String(last.content);
  if (system.includes("the worker"))
    return last.role === "tool" ? "It is there." : [{ call: "add_task", arguments: { title: "Milk" } }];
  if (last.role !== "tool")
    return text.includes("wait")
      ? [{ text: "one moment" }, { gate: () => gate.promise }, { text: " and done" }]
      : text.includes("milk")
        ? [{ call: "delegate", arguments: { agent: "worker", task: "Add milk to the tasks." } }]
        : `You said: ${text}`;
  return text.startsWith("sent")
    ? "The mail is **sent**."
    : [{ text: "Now the mail." }, { call: "send_mail", arguments: { to: "ada" } }];
}

async function findsNothing(page: Page, state: string): Promise<void> {
  assert.deepEqual(await violationsOf(page), [], state);
}

describe("the runs", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      ({ messages }) => answer(String(messages[0]!.content), messages.at(-1)!),
      {},
      { agents: [worker, boss], tools: [mail], approval: { ask: ["send_mail"] } },
    );
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    const look = { viewport: { width: 1280, height: 900 }, serviceWorkers: "block" } as const;
    page = await browser.open(`${server.url}/runs`, look);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const client = () => createClient({ url: server.url });
  const begin = async (content: string) => {
    const thread = await client().createThread({ agent: "boss" });
    return client().startRun(thread.id, { agent: "boss", content });
  };
  const line = (text: string | RegExp) => page.getByRole("treegrid").getByRole("row", { name: text });
  const detail = (name: string) => page.getByRole("region", { name, exact: true });

  test("the list is empty at first, and shows what begins", async () => {
    await page.getByText("No runs yet.").waitFor();
    await findsNothing(page, "empty");
    await begin("buy milk and tell ada");
    await page.getByRole("link", { name: "buy milk and tell ada" }).waitFor();
    await page.getByText("waiting for approval").waitFor();
    await findsNothing(page, "list");
    await page.getByRole("combobox", { name: "State" }).selectOption("failed");
    await page.getByText("No matching runs").waitFor();
    assert.match(page.url(), /status=failed/);
    await page.getByRole("combobox", { name: "State" }).selectOption("all");
    await page.getByRole("checkbox", { name: "Include delegated runs" }).check();
    await page.getByRole("link", { name: "Add milk to the tasks." }).waitFor();
  });

  test("a waterfall of what it did; it waits, is allowed, and goes on before one's eyes", async () => {
    await page.getByRole("link", { name: "buy milk and tell ada" }).click();
    await page.getByRole("heading", { name: "buy milk and tell ada" }).waitFor();
    await line(/@worker/).waitFor();
    await line(/Waiting for approval/).waitFor();
    await page.getByText("Working time left").waitFor();
    await page.locator("a.section-link[aria-current=page]", { hasText: "Runs" }).waitFor();
    await findsNothing(page, "waiting");
    await page
      .getByRole("region", { name: "needs your input" })
      .getByRole("button", { name: "Allow", exact: true })
      .click();
    await line(/^done/).waitFor();
    await line(/Waited for approval allowed/).waitFor();
    await page.getByText("Working time left").waitFor({ state: "detached" });
    assert.deepEqual(sent.length, 1);
    await page.getByText("started by").waitFor();
    await line(/^send_mail/).click();
    await detail("send_mail").getByText("Idempotency key").waitFor();
    await detail("send_mail").getByText("sent to ada").waitFor();
    await detail("send_mail").getByText("Log entry").click();
    await detail("send_mail").getByText('"ledger"').waitFor();
    assert.match(page.url(), /row=/);
    await findsNothing(page, "detail");
  });

  test("what is told of a row stands beside the timeline, and below it where there is less room", async () => {
    const places = async () => {
      const [timeline, told] = await Promise.all([
        page.getByRole("treegrid").boundingBox(),
        detail("send_mail").boundingBox(),
      ]);
      assert.ok(timeline && told);
      return { isBeside: told.x >= timeline.x + timeline.width, isBelow: told.y >= timeline.y + timeline.height };
    };
    assert.equal((await places()).isBeside, true);
    await page.getByRole("group", { name: "Run details" }).focus();
    await page.setViewportSize({ width: 1024, height: 900 });
    await page.getByRole("group", { name: "Run details" }).waitFor({ state: "detached" });
    assert.equal((await places()).isBelow, true);
    await findsNothing(page, "detail below");
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("group", { name: "Run details" }).waitFor();
  });

  test("by keyboard: rows are chosen, folded and unfolded", async () => {
    await line(/^Message buy/).click();
    await detail("Message").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await detail("delegate").waitFor();
    await page.keyboard.press("ArrowLeft");
    await line(/@worker/).waitFor({ state: "detached" });
    await page.keyboard.press("ArrowRight");
    await line(/@worker/).waitFor();
    await page.keyboard.press("End");
    await page.locator("[role=row][aria-selected=true]", { hasText: "done" }).waitFor();
  });

  test("run again from here: the message anew, changed, and from a later step", async () => {
    const first = page.url();
    await line(/^Message buy/).click();
    await page.getByRole("button", { name: "Edit and send …" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("say hello");
    await findsNothing(page, "changing");
    await page.getByRole("button", { name: "Edit and send", exact: true }).click();
    await page.getByRole("heading", { name: "say hello" }).waitFor();
    await line(/You said: say hello/).waitFor();
    assert.notEqual(page.url(), first);

    await page.goto(first);
    await line(/^send_mail/).click();
    await page.getByRole("button", { name: "Continue from here …" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("and now?");
    await page.getByRole("button", { name: "Continue from here", exact: true }).click();
    await page.getByRole("heading", { name: "and now?" }).waitFor();
    await line(/You said: and now\?/).waitFor();

    await page.goto(first);
    await line(/^Message buy/).click();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("status").getByText("waiting for approval").waitFor();
    assert.notEqual(page.url(), first);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("status").getByText("stopped").waitFor();
    await page.getByText("at most").waitFor({ state: "detached" });
  });

  test("what is at work grows, and is stopped", async () => {
    const { id } = await begin("wait for me");
    await page.goto(`${server.url}/runs/${id}`);
    await line(/calling the model/).waitFor();
    await page.getByRole("status").getByText("running").waitFor();
    await findsNothing(page, "running");
    gate.resolve();
    await line(/one moment and done/).waitFor();
    await page.getByRole("status").getByText("done").waitFor();
    gate = Promise.withResolvers();
  });

  test("whoever goes elsewhere while a run begins stays there", async () => {
    const { id } = await begin("say hi");
    await page.goto(`${server.url}/runs/${id}`);
    await line(/^done/).waitFor();
    await line(/^Message say hi/).click();
    const held = Promise.withResolvers<void>();
    await page.route("**/api/threads/*/runs", async (route) => {
      await held.promise;
      await route.continue();
    });
    const begun = page.waitForResponse("**/api/threads/*/runs");
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Tasks" }).click();
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
    held.resolve();
    await (await begun).finished();
    await page.evaluate("new Promise((shown) => requestAnimationFrame(() => setTimeout(shown)))");
    assert.equal(new URL(page.url()).pathname, "/tasks");
    await page.unroute("**/api/threads/*/runs");
    await page.goto(`${server.url}/runs`);
  });

  test("a tool alone: its form says what is missing, asks before it acts, and shows the result", async () => {
    await page.getByRole("link", { name: "Test a tool" }).click();
    await page.getByRole("searchbox", { name: "Search tools" }).fill("mail");
    await page.getByRole("link", { name: "send_mail" }).click();
    const form = page.getByRole("form", { name: "send_mail" });
    await form.getByRole("button", { name: "Call" }).click();
    await form.getByText("Required", { exact: true }).waitFor();
    await form.getByLabel("to (required)").fill("bob");
    await form.getByLabel("copies").fill("9");
    await page.keyboard.press("Tab");
    await form.getByText("Must be at most 5.").waitFor();
    await findsNothing(page, "form with problems");
    await form.getByLabel("copies").fill("2");
    await form.getByLabel("tone").selectOption("kind");
    await form.getByLabel("urgent").selectOption("yes");
    await form.getByLabel(/^lines/).fill("one\ntwo");
    await form.getByLabel("name (required)").fill("Colloquy");
    await form.getByRole("button", { name: "Call" }).click();
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.getByText("sent to bob").waitFor();
    assert.deepEqual(sent.at(-1), {
      to: "bob",
      copies: 2,
      tone: "kind",
      urgent: true,
      lines: ["one", "two"],
      sender: { name: "Colloquy" },
    });
    await findsNothing(page, "result");
    await page.getByRole("link", { name: "View run" }).click();
    await line(/^send_mail/).click();
    await page.getByRole("link", { name: "Call this tool again" }).click();
    await page.getByLabel("to (required)").waitFor();
    assert.equal(await page.getByLabel("to (required)").inputValue(), "bob");
    // Empty for whoever chooses the tool, and as it was on the way back.
    await page.getByRole("link", { name: "send_mail" }).click();
    await page.waitForURL((url) => !url.searchParams.has("from"));
    await untilTrue(page, "document.querySelector('form[aria-label=send_mail] input')?.value === ''");
    await page.goBack();
    await untilTrue(page, "document.querySelector('form[aria-label=send_mail] input')?.value === 'bob'");
  });

  test("on a phone, in the dark, in German nothing sticks out", async () => {
    const phone = await browser.open(`${server.url}/runs`, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
      hasTouch: true,
    });
    const fits = async (state: string) => {
      assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360, state);
      await findsNothing(phone, state);
    };
    await phone.getByRole("link", { name: "buy milk and tell ada" }).last().waitFor();
    await fits("list on a phone");
    await phone.getByRole("link", { name: "buy milk and tell ada" }).last().click();
    await phone
      .getByRole("treegrid")
      .getByRole("row", { name: /^send_mail/ })
      .click();
    await phone.getByText("Idempotenz-Schlüssel").waitFor();
    await untilTrue(phone, "document.querySelector('.run-detail').getBoundingClientRect().top < innerHeight * 0.75");
    await fits("run on a phone");
    await phone.goto(`${server.url}/runs?tool=send_mail`);
    await phone.getByRole("form", { name: "send_mail" }).waitFor();
    await fits("tool on a phone");
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !text.includes("blocked by Playwright")),
      [],
    );
  });
});
