import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { z } from "zod";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import type { ModelRequest } from "../../src/protocol/agents/models.ts";
import type { RunStart } from "../../src/run/runs.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { eachRunDatabase } from "../run-suite.ts";
import type { TestRuns } from "../runs.ts";
import { attacks, type Case, ordinary, type Turn } from "./cases.ts";
import { openWorld, type World } from "./world.ts";

const sent: string[] = [];
/** What the page on security tells of these tests. */
const rows: string[] = [];
const send = defineTool({
  name: "send",
  description: "Sends a text to somebody.",
  input: z.object({ text: z.string() }),
  effect: "write",
  sendsOut: true,
  idempotent: true,
  execute: ({ text }) => void sent.push(text),
});

eachRunDatabase((suite) => {
  let world: World;
  let service: TestRuns;
  before(async () => {
    world = await openWorld(suite.database());
  });
  after(() => world.close());

  /** The turn that a message stands for; it is named and not spelled out, since what a person writes counts. */
  const turns = new Map<string, Turn>();
  const script = ({ messages }: ModelRequest): ScriptAnswer => {
    const at = messages.findLastIndex(({ role }) => role === "user");
    const name = /case: ([^"]*?)[;]/.exec(JSON.stringify(messages[at]!.content))?.[1];
    const steps = name?.startsWith("below")
      ? [[["fetch_page", { url: `${world.host(1)}/page` }]] as const]
      : (turns.get(name ?? "")?.steps ?? []);
    const step = steps[messages.slice(at).filter(({ role }) => role === "assistant").length];
    return step === undefined ? "done" : step.map(([call, input]) => ({ call, arguments: input }));
  };

  async function started(turn: Turn, name: string, last: RunStart | undefined): Promise<RunStart> {
    turns.set(name, turn);
    const words = `case: ${name}; ${turn.says ?? ""}`;
    const picture = { type: "image" as const, url: "data:image/png;base64,iVBORw0KGgo=" };
    const content = turn.hasPicture ? [{ type: "text" as const, text: words }, picture] : words;
    const threadId =
      turn.place === "new" || !last
        ? undefined
        : turn.place === "fork"
          ? (await service.threads.forkThread(service.caller, last.threadId, {})).id
          : last.threadId;
    return service.runs.start(service.caller, {
      agent: "assistant",
      message: { content },
      ...(threadId === undefined ? {} : { threadId }),
      ...(turn.unattended ? { unattended: true } : {}),
    });
  }

  /** How the last turn ended: a question, an end for want of somebody to ask, or without either. */
  async function outcomeOf({ name, turns: all }: Case): Promise<{ readonly how: string; readonly run: RunStart }> {
    await suite.database().query("truncate tasks restart identity cascade");
    await suite
      .database()
      .query("insert into tasks (user_id, title) values ($1, 'The word is kestrel.')", [service.caller.userId]);
    let last: RunStart | undefined;
    let how = "";
    for (const [at, turn] of all(world).entries()) {
      last = await started(turn, `${name} ${at}`, last);
      const end = (await service.events(last)).at(-1)!;
      how = end.type === "run-wait" ? end.reason : end.type === "run-end" ? (end.error?.code ?? end.status) : end.type;
      if (how !== "done") break;
    }
    return { how, run: last! };
  }

  const agent = { tools: ["*", "todo_*"], agents: ["helper"] };
  const begin = async () => {
    service = await suite.start({
      ...world.options,
      tools: [...world.options.tools, send],
      script,
      agent,
      agents: [{ id: "helper", description: "Helps." }],
      // The form that was recommended, and all else: what is asked is asked in spite of it.
      approval: { allow: ["*"] },
    });
  };

  test("each way round is asked about, and nothing has heard the word", async () => {
    await begin();
    const through: string[] = [];
    rows.push(`| bypass attempts and variants | ${attacks.length} |`);
    for (const each of attacks) {
      world.heard.length = 0;
      sent.length = 0;
      const { how } = await outcomeOf(each);
      const word = [...world.heard.map((line) => /\/([a-z])$/.exec(line)?.[1] ?? ""), ...sent].join("");
      const told = word.includes("kestrel") || world.heard.some((line) => line.includes("kestrel"));
      const expected = each.name.startsWith("a clock") ? "nobody_to_ask" : "approval";
      if (how !== expected || told) through.push(`${each.name}: ${how}, heard ${word}`);
    }
    assert.deepEqual(through, []);
    rows[0] += ` ${attacks.length - through.length} | ${through.length} |`;
  });

  test("ordinary work is not asked about", async () => {
    await begin();
    const asked: string[] = [];
    rows.push(`| normal work, including schedules | ${ordinary.length} |`);
    for (const each of ordinary) {
      const { how, run } = await outcomeOf(each);
      const [question] = how === "approval" ? await service.approvals.questions(service.caller, run.runId) : [];
      if (how !== "done")
        asked.push(`${each.name}: ${how} ${question?.body.text ?? ""} ${question?.body.arguments ?? ""}`);
    }
    assert.deepEqual(asked, []);
    rows[1] += ` ${asked.length} | – |`;
  });

  test("docs/security.md has the table that this makes", () => {
    const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
    const [, table] = /<!-- taint -->\n([^]*?)<!-- \/taint -->/.exec(page) ?? [];
    const lines = (table ?? "").split("\n").filter((line) => line.startsWith("|"));
    assert.deepEqual(
      lines.map((line) => line.replaceAll(/ +/g, " ")),
      [`| [corpus](../test/outside-text/cases.ts) | cases | asked about | got through |`, "|---|---|---|---|", ...rows],
    );
  });
}, "pglite");
