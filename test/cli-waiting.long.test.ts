import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, test } from "node:test";
import type { QuestionView } from "../src/protocol/threads/run-shapes.ts";
import { type Client, createClient } from "../src/client/client.ts";
import { followRun } from "../src/cli/follow-run.ts";
import { askPerson } from "../src/cli/ask-person.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

/** Somebody at a terminal, who answers prompts in order. `undefined` leaves. */
function person(answers: readonly (string | undefined)[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const left = [...answers];
  let seen = "";
  let interrupted = 0;
  output.on("data", (data: Buffer) => {
    seen += data.toString();
    if (!/(?:: |\] |\) )$/.test(seen) || left.length === 0) return;
    seen += "\n";
    const answer = left.shift();
    setImmediate(() => (answer === undefined ? input.end() : input.write(`${answer}\n`)));
  });
  const terminal = { input, output, interrupt: () => void interrupted++ };
  return { terminal, seen: () => seen, left, interrupted: () => interrupted };
}

const question = (rest: Partial<QuestionView>): QuestionView => ({
  id: "q",
  runId: "r",
  threadId: "t",
  reason: "approval",
  text: "May add_task be called with these arguments?",
  decisions: ["allow", "deny"],
  createdAt: "",
  ...rest,
});
const approval = question({ tool: "add_task", arguments: '{"title":"Milk"}', argumentsHash: "h" });

describe("a person is asked", () => {
  const cases: readonly [string, QuestionView, readonly (string | undefined)[], unknown][] = [
    ["yes", approval, ["y"], { decision: "allow", argumentsHash: "h" }],
    ["always", approval, ["Always"], { decision: "allow", always: true, argumentsHash: "h" }],
    ["no, with a reason", approval, ["n", "we have milk"], { decision: "deny", text: "we have milk" }],
    ["no, without", approval, ["n", ""], { decision: "deny" }],
    ["nonsense, then yes", approval, ["perhaps", "y"], { decision: "allow", argumentsHash: "h" }],
    ["go on", question({ reason: "limit" }), ["y"], { decision: "continue" }],
    ["don't", question({ reason: "limit" }), ["", "n"], { decision: "stop" }],
    ["what became of it", question({ reason: "unknown" }), ["dunno", "retry"], { decision: "retry" }],
    [
      "always, of what is asked each time, then yes",
      { ...approval, eachTime: true },
      ["a", "y"],
      { decision: "allow", argumentsHash: "h" },
    ],
    ["and leaves", approval, [undefined], undefined],
  ];
  for (const [name, asked, answers, expected] of cases)
    test(name, async () => {
      const { terminal, seen, left } = person(answers);
      assert.deepEqual(await askPerson(asked, terminal), expected);
      assert.deepEqual(left, []);
      assert.match(seen(), new RegExp(asked.text.replaceAll(/[?]/g, "\\?")));
    });

  test("and may edit the arguments", async () => {
    // what is typed goes behind the proposal, as on a terminal
    const { terminal } = person(["e", "}", "e", " "]);
    const answer = await askPerson(approval, terminal);
    assert.deepEqual(answer, { decision: "allow", arguments: '{"title":"Milk"}', argumentsHash: "h" });
  });
});

function script({ messages }: ModelRequest): ScriptAnswer {
  if (messages.at(-1)!.role === "tool") return "It is on your list.";
  return [{ call: "add_task", arguments: { title: "Buy milk" } }, { finish: "calls" }];
}

describe("a run that waits", () => {
  let server: AgentServing;
  let client: Client;
  before(async () => {
    server = await serveAgents(script, {}, { approval: { ask: ["add_task"] } });
    client = createClient({ url: server.url });
  });
  after(() => server.close());

  async function follow(answers?: readonly (string | undefined)[]) {
    const thread = await client.createThread();
    const run = await client.startRun(thread.id, { agent: "assistant", content: "buy milk" });
    const [answer, notes] = [new PassThrough(), new PassThrough()];
    const someone = answers && person(answers);
    const output = { answer, notes, json: false, ...(someone && { terminal: someone.terminal }) };
    const code = await followRun(client, run, output);
    return { run, code, answer: String(answer.read() ?? ""), notes: String(notes.read() ?? "") };
  }

  test("asks at the terminal and goes on", async () => {
    const { code, answer } = await follow(["y"]);
    assert.equal(code, 0);
    assert.equal(answer, "It is on your list.\n");
  });

  for (const [name, answers] of [
    ["without a terminal", undefined],
    ["when the person leaves", [undefined]],
  ] as const)
    test(`${name} says what waits and how to answer, and is left waiting`, async () => {
      const { run, code, notes } = await follow(answers);
      assert.equal(code, 2);
      const [open] = (await client.run(run.id)).questions;
      assert.match(
        notes,
        new RegExp(`add_task \\{"title":"Buy milk"\\}\n {2}\\./colloquy answer ${open!.id} allow\\|deny`),
      );
      await client.cancel(run.id);
    });
});

describe("the commands", () => {
  let cwd: string;
  let env: Record<string, string>;
  before(async () => {
    cwd = temporaryFolder("cli");
    writeFileSync(join(cwd, "colloquy.yaml"), "probe: false\napproval: { ask: [add_task, calculate] }\n");
    mkdirSync(join(cwd, "rooms"));
    writeFileSync(join(cwd, "rooms/desk.yaml"), "members: [assistant, { agent: chat, activation: always }]\n");
    env = { PATH: process.env["PATH"] ?? "", COLLOQUY_DATA: await freshDataDirectory(), COLLOQUY_LOG_LEVEL: "warn" };
  });

  async function colloquy(...args: string[]) {
    const cli = join(import.meta.dirname, "../src/cli.ts");
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", cli, ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data: Buffer) => (out += data.toString()));
    child.stderr.on("data", (data: Buffer) => (err += data.toString()));
    const [code] = (await once(child, "close")) as [number];
    return { code, out, err };
  }

  test("run leaves it waiting (exit code 2), runs lists it, answer lets it go on", async () => {
    const asked = await colloquy("run", "add a task to buy milk");
    assert.equal(asked.code, 2, asked.err);
    const id = /colloquy answer ([0-9a-f-]{36}) allow\|deny/.exec(asked.err)?.[1];
    assert.ok(id, asked.err);

    const listed = await colloquy("runs");
    assert.match(listed.out, /^[0-9a-f-]{36} {2}waiting \(approval\) {2}assistant {2}since /);
    assert.match(listed.out, new RegExp(`colloquy answer ${id} allow`));

    assert.match((await colloquy("answer", id, "perhaps")).err, /colloquy answer <question> <decision>/);
    const answered = await colloquy("answer", id, "allow", "--arguments", '{"title":"Oat milk"}');
    assert.equal(answered.code, 0, answered.err);
    assert.match(answered.err, /✓ \{"id":1,"title":"Oat milk"/);
  });

  test("run with the name of a room: all speak; what a member asks is answered, and the room goes on", async () => {
    const asked = await colloquy("run", "--agent", "desk", "@assistant what is 3*4?");
    assert.equal(asked.code, 2, asked.err);
    const id = /waiting for your answer:[\s\S]*colloquy answer ([0-9a-f-]{36}) allow\|deny/.exec(asked.err)?.[1];
    assert.ok(id, asked.err);
    const answered = await colloquy("answer", id, "allow");
    assert.equal(answered.code, 0, answered.err);
    assert.match(answered.out, /^\[@assistant\]: 12\b[^]*\n\[@chat\]: /);
  });

  test("run in a thread that is a room names the command to talk there", async () => {
    const made = await colloquy("chat", "desk", "--json");
    const { thread } = JSON.parse(made.out.split("\n")[0]!) as { thread: string };
    const refused = await colloquy("run", "--thread", thread, "hello");
    assert.equal(refused.code, 1);
    assert.match(refused.err, new RegExp(`is a room\\. To chat there, run: \\./colloquy chat ${thread}\n$`));
  });
});
