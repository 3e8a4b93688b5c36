import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { z } from "zod";
import {
  agree,
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import type { Turn } from "../../src/run/contract/turn.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";
import { createWorkspaces } from "../../src/sandbox/workspace/workspaces.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { chart, draw, look, png, mail, sent } from "../../test/page-tools.ts";
import { temporaryFolder } from "../../test/pglite.ts";

let answers: ScriptAnswer[] = [];
let gate = Promise.withResolvers<void>();
/** Output is not kept: who follows later misses it. */
let followed = Promise.resolve();

const slow = defineTool({
  name: "slow",
  description: "Takes its time.",
  input: z.object({}),
  effect: "read",
  async execute(_, { progress }) {
    await followed;
    for (let line = 1; line <= 30; line++) progress(`line ${line}\n`);
    await gate.promise;
    return "x".repeat(9000);
  },
});

const order = defineTool({
  name: "order",
  description: "Orders something.",
  input: z.object({}),
  effect: "read",
  execute: (_, { answers: given }) =>
    given.length > 0
      ? { content: `ordered ${JSON.stringify(given[0]?.data)}` }
      : {
          content: "",
          ask: {
            text: "What shall be ordered?",
            schema: {
              type: "object",
              properties: { what: { type: "string", minLength: 1 }, count: { type: "integer", minimum: 1 } },
              required: ["what", "count"],
            },
          },
        },
});

/** Works by a plan. */
async function planned(turn: Turn): Promise<void> {
  const step = (text: string, state: "open" | "running" | "done") => ({ text, state });
  await turn.record("plan", {
    kind: "plan",
    body: {
      steps: [
        step("Gather", "done"),
        step("Sort", "done"),
        step("Weigh", "running"),
        step("Pack", "open"),
        step("Send", "open"),
      ],
    },
  });
  await turn.say("end", "It goes by plan.", { final: true });
}

describe("an agent's turn", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      () => answers.shift() ?? "nothing more to say",
      {},
      {
        tools: [draw, look, slow, mail, order],
        approval: { ask: ["send_mail"] },
        strategies: { planned },
        workspaces: createWorkspaces({ folder: temporaryFolder("workspaces") }),
        sourceText: async () => "Herons wait in shallow water.",
        agents: [
          agentSchema.parse({ id: "editor", model: "default", agents: ["helper"], instructions: "." }),
          agentSchema.parse({ id: "planner", model: "default", strategy: "planned", instructions: "." }),
          agentSchema.parse({
            id: "helper",
            model: "default",
            tools: ["calculate", "slow", "send_mail"],
            instructions: ".",
          }),
        ],
      },
    );
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 900 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const say = (text: string) => sayOn(page, text);
  const log = () => page.getByRole("log");
  const begin = async () => {
    await page.goto(server.url);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
  };
  const choose = async (agent: string) => {
    await page.getByRole("combobox", { name: /^Agent/ }).click();
    await page.getByRole("option", { name: `@${agent}` }).click();
  };
  const findsNothing = async (state: string, of = page) => assert.deepEqual(await violationsOf(of), [], state);
  const threadId = () => /chat\/([0-9a-f-]+)/.exec(page.url())![1]!;

  test("code is coloured and copied, formulas are formulas, and money is none", async () => {
    await begin();
    answers = [
      [
        {
          text: 'It costs $5 and $6.\n\nSo $x^2$ and \\(y_1\\):\n\n$$\n\\frac{1}{2}\n$$\n\n$$\\sum_1 x$$\n\nBroken: $$\\frac{$$\n\n```python\ndef f(x):  # why\n    return "a" + str(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
        },
        { finish: "stop", usage: { inputTokens: 1200, outputTokens: 34 } },
      ],
    ];
    await say("show me");
    await log().locator(".hljs-keyword", { hasText: "def" }).waitFor();
    await log().locator("math mfrac").waitFor();
    await log().getByText("It costs $5 and $6.").waitFor();
    assert.equal(await log().locator("math").count(), 4);
    assert.equal(await log().locator("math[display=block]").count(), 2, "each with a line of its own");
    await log().getByText("1,200 + 34 tokens").waitFor();
    await log()
      .getByText(/Time to first token .* Total /)
      .waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await log().getByRole("button", { name: "Copy code" }).click();
    assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /^def f\(x\)/);
    await findsNothing("formatted");
    await page.emulateMedia({ colorScheme: "dark" });
    await findsNothing("formatted, dark");
    await page.emulateMedia({ colorScheme: "light" });
  });

  test("what is cited leads to its passage, and a quotation that is nowhere is said", async () => {
    await begin();
    answers = [
      [{ call: "look", arguments: { query: "birds" } }],
      'They "wait in shallow water" [1], and "fly over all the mountains" [1]; see [2].',
    ];
    await say("birds?");
    await log().getByText("They “wait").or(log().getByText('They "wait')).first().waitFor();
    const [fine, missing] = [log().locator("a.citation-chip").nth(0), log().locator("a.citation-chip").nth(1)];
    assert.match((await fine.getAttribute("href")) ?? "", /knowledge\/c1\?document=d1&from=10&to=42$/);
    await fine.focus();
    await page.getByRole("tooltip").getByText("page 3").waitFor();
    await findsNothing("cited");
    await missing.hover();
    await page.getByRole("tooltip").getByText("quote not found in the source").waitFor();
    const web = log().locator("a.citation-chip").nth(2);
    assert.equal(await web.getAttribute("target"), "_blank");
    assert.match((await web.getAttribute("rel")) ?? "", /noreferrer/);
    await log().getByRole("list", { name: "Sources" }).getByText("herons.md").waitFor();
  });

  test("pictures and files that were made are seen, looked into and saved", async () => {
    await begin();
    answers = ["What shall I draw?"];
    await say("hello");
    await log().getByText("What shall I draw?").waitFor();
    const files = `${server.url}/api/threads/${threadId()}/files`;
    const put = async (path: string, body: string | Buffer) =>
      assert.ok((await fetch(`${files}/${path}`, { method: "PUT", body: new Uint8Array(Buffer.from(body)) })).ok, path);
    await put("plot.png", png);
    await put("charts/sales.svg", chart);
    await put("data/sales.csv", 'month,sales\n"Jan, Feb",10\n');
    await put("notes.md", "# Notes\n\nall *well*");
    answers = [[{ call: "draw", arguments: { what: "sales" } }], "Here it is."];
    await say("draw the sales");
    await log().getByText("Here it is.").waitFor();
    const made = log().getByRole("region", { name: "Files" });
    await untilTrue(
      page,
      `[...document.querySelectorAll("[role=log] img")].filter((each) => each.complete && each.naturalWidth > 0).length === 2`,
    );
    assert.equal(await made.getByText("gone.png").count(), 0);
    await made.getByRole("button", { name: "Preview sales.csv" }).click();
    await made.getByRole("cell", { name: "Jan, Feb" }).waitFor();
    await made.getByRole("button", { name: "Preview notes.md" }).click();
    await made.getByRole("heading", { name: "Notes" }).waitFor();
    await findsNothing("files");
    const saved = page.waitForEvent("download");
    await made.getByRole("link", { name: "Download sales.csv" }).click();
    assert.equal((await saved).suggestedFilename(), "sales.csv");
    await made.getByRole("button", { name: "Enlarge sales.svg" }).click();
    await page.getByRole("dialog", { name: "sales.svg" }).waitFor();
    await findsNothing("large picture");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("a call says what it does and for how long; its output is followed, its result opened whole", async () => {
    await begin();
    gate = Promise.withResolvers<void>();
    const shown = Promise.withResolvers<void>();
    followed = shown.promise;
    answers = [[{ call: "slow", arguments: {} }], "That took a while."];
    await say("slowly");
    await log().getByText("slow", { exact: true }).click();
    shown.resolve();
    await log().getByText("line 30").waitFor();
    await log()
      .getByText(/· \d+ (ms|s)/)
      .waitFor();
    await findsNothing("running");
    gate.resolve();
    await log().getByText("That took a while.").waitFor();
    await log()
      .getByRole("button", { name: /Open in full/ })
      .click();
    assert.equal((await log().getByRole("region", { name: "Result" }).locator("pre").textContent())?.length, 9000);
    assert.match(
      (await log()
        .getByRole("link", { name: /View run/ })
        .getAttribute("href")) ?? "",
      /runs\/[0-9a-f-]{36}$/,
    );
  });

  test("calls in a row stand in one line", async () => {
    await begin();
    const sum = (expression: string) => ({ call: "calculate", arguments: { expression } });
    answers = [[sum("1+1"), sum("2+2"), sum("3+3"), sum("1/0")], "All done."];
    await say("calculate a lot");
    await log().getByText("All done.").waitFor();
    await log().getByText("4 calls").click();
    await log().getByText("2+2").click();
    assert.equal(
      await log()
        .getByRole("link", { name: /View run/ })
        .count(),
      1,
    );
    await log().getByRole("region", { name: "Result" }).getByText("4").waitFor();
    await findsNothing("group");
  });

  let delegated = "";

  test("work that was handed on opens to what the other agent says and does", async () => {
    await begin();
    await choose("editor");
    gate = Promise.withResolvers<void>();
    answers = [
      [{ call: "delegate", arguments: { agent: "helper", task: "Count the beans" } }],
      [
        { call: "calculate", arguments: { expression: "20+22" } },
        { call: "slow", arguments: {} },
      ],
      [{ text: "There are 42 beans." }, { finish: "stop", usage: { inputTokens: 10, outputTokens: 5 } }],
      "The helper says 42.",
    ];
    await say("how many beans?");
    await log().getByText("@helper").click();
    gate.resolve();
    await log().getByText("The helper says 42.").waitFor();
    const child = log().getByRole("group", { name: "Transcript" });
    await child.getByText("20+22").waitFor();
    await child.getByText("There are 42 beans.").waitFor();
    await findsNothing("delegated");
    delegated = page.url();
  });

  test("what another agent must ask is asked in the line of the call, also after a reload", async () => {
    answers = [
      [{ call: "delegate", arguments: { agent: "helper", task: "Tell Ann" } }],
      [{ call: "send_mail", arguments: { to: "ann" } }],
      "Ann knows.",
      "It is done.",
    ];
    await say("tell ann");
    const question = page.getByRole("region", { name: "needs your input" });
    await question.waitFor();
    await findsNothing("asked below");
    await page.reload();
    await question.waitFor();
    await question.getByLabel("Arguments").fill("no json");
    await question.getByRole("button", { name: "Allow", exact: true }).click();
    await question.getByText("This is not valid JSON.").waitFor();
    await question.getByLabel("Arguments").fill('{"to":"anna"}');
    await question.getByRole("button", { name: "Allow", exact: true }).click();
    await log().getByText("It is done.").waitFor();
    assert.deepEqual(sent, ["anna"]);
  });

  test("a question with fields is a form", async () => {
    await begin();
    answers = [[{ call: "order", arguments: {} }], "It is on its way."];
    await say("order something");
    const form = page.getByRole("form", { name: "Answer" });
    await form.getByLabel(/what/).fill("tea");
    await form.getByLabel(/count/).fill("none");
    await form.getByRole("button", { name: "Answer" }).click();
    await findsNothing("form");
    await form.getByLabel(/count/).fill("2");
    await form.getByRole("button", { name: "Answer" }).click();
    await log().getByText("It is on its way.").waitFor();
    await log().getByText('ordered {"what":"tea","count":2}').first().waitFor();
  });

  test("a plan shows the step at which it is, and opens to all", async () => {
    await begin();
    await choose("planner");
    await say("pack it");
    await log().getByText("It goes by plan.").waitFor();
    const plan = log().getByRole("region", { name: "Plan" });
    await plan.getByText("Weigh").waitFor();
    assert.equal(await plan.getByText("Gather").count(), 0);
    await plan.getByRole("button", { name: /2 of 5 done/ }).click();
    await plan.getByText("Gather").waitFor();
    await findsNothing("plan");
  });

  test("all files of the conversation: added, saved, removed", async () => {
    await page.getByRole("button", { name: "Files", exact: true }).click();
    const sheet = page.getByRole("complementary", { name: "Files" });
    await sheet.getByText("No files yet.").waitFor();
    await sheet.locator("input[type=file]").setInputFiles({
      name: "list.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("tea"),
    });
    await sheet.getByText("list.txt").waitFor();
    await findsNothing("all files");
    await sheet.getByRole("button", { name: "Remove list.txt" }).click();
    await page.getByRole("alertdialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    await sheet.getByRole("button", { name: "Remove list.txt" }).and(page.locator(":focus")).press("Enter");
    await agree(page, "Remove");
    await sheet.getByText("No files yet.").waitFor();
    await page.keyboard.press("Escape");
  });

  test("in the dark, on a phone", async () => {
    const phone = await browser.open(delegated, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      hasTouch: true,
    });
    await phone.getByRole("log").getByText("The helper says 42.").waitFor();
    await phone.getByRole("log").getByText("@helper").first().click();
    await phone.getByText("There are 42 beans.").waitFor();
    await findsNothing("phone", phone);
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
