import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { z } from "zod";
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
import { mail, sent } from "../../test/page-tools.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { letterTool } from "../../test/letters.ts";

const shell = defineTool({
  name: "shell",
  description: "Runs a command.",
  input: z.object({}),
  effect: "read",
  execute(_, { progress }) {
    progress("nowhere to be found\n");
    return { content: "nowhere to be found\n[exit code 6]", data: { exitCode: 6 } };
  },
});
const outside = defineTool({
  name: "look",
  description: "Looks outside.",
  input: z.object({}),
  effect: "read",
  bringsIn: true,
  execute: () => ({
    content: "Herons.",
    sources: [{ kind: "web", title: "Herons", url: "https://example.com/herons" }],
  }),
});
const reaching = defineTool({
  name: "run_there",
  description: "Runs code that reaches a host.",
  input: z.object({}),
  effect: "write",
  idempotent: true,
  hosts: ["api.github.com"],
  execute: () => "ran",
});
let posted = 0;
const letter = letterTool(() => (posted++ === 0 ? new Promise(() => {}) : "posted"));
const agents = [
  { id: "brief", tools: ["calculate"], limits: { steps: 1 } },
  { id: "chief", agents: ["lead"] },
  { id: "lead", agents: ["clerk"] },
  { id: "clerk", tools: ["send_mail"] },
].map((each) => agentSchema.parse({ model: "default", instructions: ".", ...each }));

describe("what is done and decided in a conversation", { skip: skipBrowser }, () => {
  let answers: ScriptAnswer[] = [];
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      () => answers.shift() ?? "nothing more to say",
      {},
      {
        tools: [mail, letter, shell, outside, reaching],
        approval: { ask: ["send_mail"], allow: ["send_letter"] },
        agents,
      },
    );
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 850 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = () => page.getByRole("log");
  const question = () => log().getByRole("region", { name: "needs your input" });
  const line = (text: string) => log().locator("summary", { hasText: text });
  const say = (text: string) => sayOn(page, text);
  const begin = async (agent = "assistant") => {
    await page.goto(`${server.url}/?agent=${agent}`);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await page.getByRole("combobox", { name: `Agent: @${agent}` }).waitFor();
  };
  const settled = () => page.locator("[role=log][aria-busy=false]").waitFor();
  const findsNothing = async (state: string) => {
    await pictureOf(page, `deciding ${state}`);
    assert.deepEqual(await violationsOf(page), [], state);
  };

  test("a write whose outcome nobody knows is settled in its own line: it was done", async () => {
    await begin();
    answers = [[{ call: "send_letter", arguments: {} }], "It is on its way."];
    await say("send the letter");
    await question().waitFor();
    const inLine = log().locator("details[open]", { has: page.getByRole("region", { name: "needs your input" }) });
    await inLine.filter({ hasText: "send_letter" }).waitFor();
    await line("send_letter").getByText("needs your input").waitFor();
    await page.getByRole("status").getByText("needs your input").waitFor();
    await findsNothing("unknown outcome");
    await question().getByRole("button", { name: "Mark as done" }).click();
    await log().getByText("It is on its way.").waitFor();
    await question().waitFor({ state: "detached" });
    await line("send_letter").getByText(/done/).waitFor();
    assert.equal(posted, 1);
    await findsNothing("outcome told");
  });

  test("or it is done once more, also after a reload", async () => {
    await begin();
    posted = 0;
    answers = [[{ call: "send_letter", arguments: {} }], "Now it is posted."];
    await say("send another letter");
    await question().waitFor();
    await page.reload();
    await question().getByRole("button", { name: "Run again" }).click();
    await log().getByText("Now it is posted.").waitFor();
    assert.equal(posted, 2);
    await line("send_letter").getByText(/done/).waitFor();
  });

  test("a limit that is reached is lifted in place, or it ends there", async () => {
    await begin("brief");
    answers = [[{ call: "calculate", arguments: { expression: "6*7" } }], "It is 42."];
    await say("6*7?");
    await question().getByRole("button", { name: "Continue" }).waitFor();
    await findsNothing("limit");
    await question().getByRole("button", { name: "Continue" }).click();
    await log().getByText("It is 42.").waitFor();
    await settled();
    await log().getByText("Continued.").waitFor();

    answers = [[{ call: "calculate", arguments: { expression: "6*8" } }], "It is 48."];
    await say("6*8?");
    await question().getByRole("button", { name: "End run" }).click();
    await settled();
    await log().getByText("Run ended.").waitFor();
    await page.getByText("Stopped", { exact: false }).first().waitFor();
    assert.equal(await log().getByRole("alert").count(), 0);
    assert.equal(await log().getByText("It is 48.").count(), 0);
    await findsNothing("ended at the limit");
  });

  test("work handed on twice: who is below asks in the innermost line, and what was done stands there", async () => {
    await begin("chief");
    answers = [
      [{ call: "delegate", arguments: { agent: "lead", task: "Have Ann told" } }],
      [{ call: "delegate", arguments: { agent: "clerk", task: "Tell Ann" } }],
      [{ call: "send_mail", arguments: { to: "ann" } }],
      "Ann was told.",
      "The clerk has told her.",
      "It is all done.",
    ];
    await say("have ann told");
    const groups = log().getByRole("group", { name: "Transcript" });
    const innermost = groups.nth(1).getByRole("region", { name: "needs your input" });
    await innermost.waitFor();
    await page.reload();
    await innermost.waitFor();
    await findsNothing("asked two deep");
    await innermost.getByRole("button", { name: "Allow", exact: true }).click();
    await log().getByText("It is all done.").waitFor();
    await groups.nth(1).getByText("Ann was told.").waitFor();
    await groups.first().getByText("The clerk has told her.").waitFor();
    assert.deepEqual(sent, ["ann"]);
    await findsNothing("delegated twice");
  });

  test("what is always allowed is not asked again", async () => {
    await begin();
    sent.length = 0;
    answers = [[{ call: "send_mail", arguments: { to: "ann" } }], "Ann knows."];
    await say("tell ann");
    await question().getByRole("button", { name: "Always allow…" }).click();
    await page.getByRole("menuitem", { name: "This exact call" }).click();
    await log().getByText("Ann knows.").waitFor();
    await settled();
    answers = [[{ call: "send_mail", arguments: { to: "ann" } }], "Ann knows it twice."];
    await say("tell her again");
    await log().getByText("Ann knows it twice.").waitFor();
    assert.deepEqual(sent, ["ann", "ann"]);
    assert.equal(await log().getByText("Allowed.").count(), 1);
    const ask = async (to: string) => {
      answers = [[{ call: "send_mail", arguments: { to } }], `Now ${to} knows.`];
      await say(`tell ${to}`);
    };
    await ask("bob");
    await question().getByRole("button", { name: "Always allow…" }).click();
    await findsNothing("always allowed, what");
    await page.getByRole("menuitem", { name: "Every call of send_mail" }).click();
    await log().getByText("Now bob knows.").waitFor();
    await settled();
    await ask("cat");
    await log().getByText("Now cat knows.").waitFor();
    assert.deepEqual(sent.slice(2), ["bob", "cat"]);
    await page.goto(`${server.url}/settings/access`);
    const rows = page.getByRole("row").filter({ hasText: "send_mail" });
    await rows.filter({ hasText: "any" }).getByRole("button", { name: "Revoke: send_mail" }).click();
    await rows.filter({ hasText: "any" }).waitFor({ state: "detached" });
    await begin();
    await ask("dan");
    await question().getByRole("button", { name: "Deny …" }).waitFor();
    assert.deepEqual(sent.slice(2), ["bob", "cat"]);
  });

  test("after text from outside: who would hear of it, always for them here, and that it has been read", async () => {
    await begin();
    const looks: ScriptAnswer = [{ call: "look", arguments: {} }];
    const runs: ScriptAnswer = [{ call: "run_there", arguments: {} }];
    answers = [looks, runs, runs, "It ran twice."];
    await say("look, and run it there");
    await question()
      .getByText(
        "read external content (example.com), which may have prompted this action. Allow run_there to send data to api.github.com",
      )
      .waitFor();
    assert.equal(await question().getByRole("button", { name: "Always allow…", exact: true }).count(), 0);
    await findsNothing("asked after text from outside");
    await question().getByRole("button", { name: "Always allow api.github.com here" }).click();
    await log().getByText("It ran twice.").waitFor();

    await begin();
    answers = [looks, runs, runs, "It ran again."];
    await say("look, and run it there");
    await question().getByRole("button", { name: "Allow: I have read this" }).click();
    await log().getByText("It ran again.").waitFor();
  });

  test("a call that failed says so in its line, and why where it is opened", async () => {
    await begin();
    answers = [[{ call: "calculate", arguments: { expression: "6*" } }], "That was no sum."];
    await say("6*?");
    await log().getByText("That was no sum.").waitFor();
    await line("calculate")
      .getByText(/failed/)
      .waitFor();
    await line("calculate").click();
    await log().getByRole("region", { name: "Result" }).getByText(/\w/).first().waitFor();
    await findsNothing("a call failed");
  });

  test("a command that failed shows its exit code, and its output once", async () => {
    await begin();
    answers = [[{ call: "shell", arguments: {} }], "It found nothing."];
    await say("look for it");
    await log().getByText("It found nothing.").waitFor();
    await line("shell")
      .getByText(/^✗ exit code 6/)
      .waitFor();
    await line("shell").click();
    await log().getByRole("region", { name: "Result" }).getByText("nowhere to be found").waitFor();
    assert.equal(await log().getByRole("region", { name: "Output" }).count(), 0);
    await findsNothing("a command failed");
  });

  test("files are dropped and pasted into the conversation", async () => {
    await begin();
    const give = (how: "drop" | "paste", name: string) =>
      page.evaluate(`(() => {
        const given = new DataTransfer();
        given.items.add(new File(["customer,amount\\nC1,3\\n"], "${name}", { type: "text/csv" }));
        const field = document.querySelector("[data-composer]");
        const options = { bubbles: true, cancelable: true };
        if ("${how}" === "paste") return field.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: given }));
        field.dispatchEvent(new DragEvent("dragover", { ...options, dataTransfer: given }));
        return new Promise((go) => setTimeout(() => go(field.dispatchEvent(new DragEvent("drop", { ...options, dataTransfer: given })))));
      })()`);
    const sent = Promise.withResolvers<void>();
    await page.route("**/api/uploads*", async (route) => {
      await sent.promise;
      await route.continue();
    });
    await give("drop", "dropped.csv");
    await page.getByRole("button", { name: "Remove dropped.csv" }).waitFor();
    await page.getByText(/^\d+%$/).waitFor();
    await findsNothing("a file is on its way");
    sent.resolve();
    await give("paste", "pasted.csv");
    await page.getByRole("button", { name: "Remove pasted.csv" }).waitFor();
    assert.equal(await page.getByText("Drop files here").count(), 0);
    await page
      .getByText(/^(processing|\d+%)$/)
      .first()
      .waitFor({ state: "detached" });
    await findsNothing("files that came");
    answers = ["Two tables."];
    await say("what came?");
    await log().getByText("Two tables.").waitFor();
    await log().getByRole("link", { name: "dropped.csv" }).waitFor();
    await log().getByRole("link", { name: "pasted.csv" }).waitFor();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
