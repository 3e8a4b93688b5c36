import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";
import { z } from "zod";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import type { ModelRequest } from "../../src/protocol/agents/models.ts";
import { roomFileSchema } from "../../src/rooms/room-file.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { type AgentServing, serveAgents } from "../serve-agents.ts";
import { cutOnce } from "./cut-once.ts";
import { type ClientName, cellsOf, type Feature, type Target } from "./proven.ts";

/** A client of a protocol, as its users use it. */
export type Talk = {
  /** The pieces of an answer, as they come. */
  stream(model: string, prompt: string): Promise<readonly string[]>;
  /** The answer to a question that the model asks its tool `add` about, whose work is done by `add`. */
  withTool(model: string, prompt: string, add: (numbers: { a: number; b: number }) => string): Promise<string>;
  /** A whole answer. Where the connection breaks, the client asks again by itself. */
  ask(model: string, prompt: string): Promise<string>;
  /** It does not ask again: who uses it does. */
  readonly triesOnce?: true;
  /** The same, where the protocol has a form for what a person allows: allows it. */
  allow?(model: string, prompt: string): Promise<string>;
};
export type Connect = (url: string) => Talk;

const add = { a: 2, b: 3 };
const models: Readonly<Record<Target, string>> = { model: "script", agent: "assistant", room: "desk" };

export type Proving = {
  /** Makes the tests of its cells; `part`: the provider of it that is connected. */
  prove(client: ClientName, connect: Connect, part?: string): void;
  close(): Promise<void>;
};

/** A server whose model knows the words of these tests. */
export async function startProving(): Promise<Proving> {
  const notes: string[] = [];
  const gates = new Map<string, { readonly asked: () => void; readonly opened: Promise<void> }>();
  const note = defineTool({
    name: "note",
    description: "Notes a word",
    effect: "write",
    input: z.object({ word: z.string() }),
    execute({ word }) {
      notes.push(word);
      return `${word} is noted`;
    },
  });

  function script({ messages, tools }: ModelRequest): ScriptAnswer {
    const last = messages.at(-1)!;
    if (last.role === "tool") return [{ text: "It is " }, { text: `${last.content}.` }];
    const said = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
    const [, verb, word] = /(Add|Slowly note) (\w+)/.exec(said) ?? [];
    if (verb === "Add") return [{ call: "add_task", arguments: { title: word } }, { finish: "calls" }];
    const gate = gates.get(word ?? "");
    if (gate) {
      gate.asked();
      return [{ gate: () => gate.opened }, { call: "note", arguments: { word } }, { finish: "calls" }];
    }
    if (tools?.some(({ name }) => name === "add")) return [{ call: "add", arguments: add }, { finish: "calls" }];
    return [{ text: "Hel" }, { text: "lo" }];
  }

  const ada = { id: "ada", model: "script", activation: "always", tools: ["note", "add_task"] };
  const server = await serveAgents(
    script,
    {},
    { approval: { ask: ["add_task"] }, tools: [note], rooms: [roomFileSchema.parse({ id: "desk", members: [ada] })] },
  );
  const newWord = () => `w${randomUUID().replaceAll("-", "")}`;

  const proofs: Readonly<Record<Feature, (connect: Connect, model: string, context: TestContext) => Promise<void>>> = {
    async stream(connect, model) {
      const pieces = await connect(server.url).stream(model, "Hi");
      assert.match(pieces.join(""), /Hello/);
      assert.ok(pieces.length > 1, "in pieces");
    },
    async tools(connect, model) {
      const sums: string[] = [];
      const answer = await connect(server.url).withTool(model, "What is 2 + 3?", ({ a, b }) => {
        sums.push(`${a}+${b}`);
        return String(a + b);
      });
      assert.match(answer, /It is .*5/);
      assert.deepEqual(sums, ["2+3"]);
    },
    async approval(connect, model) {
      const [talk, word] = [connect(server.url), newWord()];
      const prompt = `Add ${word}`;
      if (talk.allow) assert.match(await talk.allow(model, prompt), /It is .*pending/);
      else await allowed(server, await talk.ask(model, prompt));
      const { rows } = await titled(server, word);
      assert.equal(rows, 1);
    },
    async resume(connect, model, context) {
      const word = newWord();
      const [asked, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      gates.set(word, { asked: asked.resolve, opened: opened.promise });
      const way = await cutOnce(server.url);
      context.after(() => way.close());
      const before = await rootRuns(server);
      const talk = connect(way.url);
      const ask = () => talk.ask(model, `Slowly note ${word}`);
      const answer = talk.triesOnce ? ask().catch(ask) : ask();
      await Promise.race([asked.promise, answer]);
      await way.cut();
      opened.resolve();
      assert.match(await answer, new RegExp(`It is .*${word} is noted`));
      assert.deepEqual(
        notes.filter((each) => each === word),
        [word],
      );
      assert.equal((await rootRuns(server)) - before, 1, "one run");
    },
  };

  return {
    prove(client, connect, part = client) {
      for (const { feature, target } of cellsOf(client))
        test(`${part}: ${feature} on ${target}`, (context) => proofs[feature](connect, models[target], context));
    },
    close: () => server.close(),
  };
}

/** Allows what the text says that the run waits for, and waits for its end. */
async function allowed({ approvals, runs, caller }: AgentServing, text: string): Promise<void> {
  const [, run, questionId] = /POST \/api\/runs\/(\S+)\/decisions\/(\S+) /.exec(text) ?? [];
  assert.ok(run && questionId, text);
  await approvals.decide(caller, run, { questionId, input: { decision: "allow" } });
  while ((await runs.get(caller, run)).status !== "done") await new Promise((later) => setTimeout(later, 5));
}

async function titled({ database }: AgentServing, title: string) {
  return { rows: (await database.query("select 1 from tasks where title = $1", [title])).length };
}

async function rootRuns({ database }: AgentServing): Promise<number> {
  return (await database.query("select 1 from runs where parent_run is null")).length;
}
