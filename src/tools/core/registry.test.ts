import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { defineTool } from "./define-tool.ts";
import { createToolRegistry, toolSchemas } from "./registry.ts";

const owner: Caller = { userId: "u", name: "Ada", role: "admin", permissions: ["*"], via: "local" };

function tool(name: string, permissions: readonly string[] = []) {
  return defineTool({
    name,
    description: name,
    input: z.object({}),
    effect: "read",
    permissions,
    execute: () => name,
  });
}

const registry = createToolRegistry([
  tool("task_list"),
  tool("Zoo"),
  tool("task_add", ["tasks", "write"]),
  tool("a.b"),
  tool("axb"),
]);
const select = (globs: readonly string[], caller = owner) => registry.select(globs, caller).map(({ name }) => name);

test("tools are found by name and listed in one stable order", () => {
  assert.equal(registry.get("Zoo")?.name, "Zoo");
  assert.equal(registry.get("zoo"), undefined);
  assert.deepEqual(
    registry.list().map(({ name }) => name),
    ["Zoo", "a.b", "axb", "task_add", "task_list"],
  );
});

test("globs name tools, ! takes them out again wherever it stands", () => {
  assert.deepEqual(select(["*"]), ["Zoo", "a.b", "axb", "task_add", "task_list"]);
  assert.deepEqual(select(["task_*", "Zoo"]), ["Zoo", "task_add", "task_list"]);
  assert.deepEqual(select(["!task_add", "task_*"]), ["task_list"]);
  assert.deepEqual(select(["!*", "*"]), []);
  assert.deepEqual(select(["!Zoo"]), []);
  assert.deepEqual(select([]), []);
  assert.deepEqual(select(["a.b"]), ["a.b"], "a dot is a dot");
  assert.deepEqual(select(["task"]), [], "a glob names the whole name");
});

test("a caller gets only tools all of whose permissions they hold", () => {
  const names = (...permissions: string[]) => select(["task_*"], { ...owner, permissions });
  assert.deepEqual(names("tool:*", "tasks"), ["task_list"]);
  assert.deepEqual(names("tool:*", "tasks", "write"), ["task_add", "task_list"]);
  assert.deepEqual(names("tool:task_add", "tasks", "write"), ["task_add"]);
  assert.deepEqual(names("agent:*", "tasks", "write"), []);
});

test("two tools of one name are an error that names both sources", () => {
  const other = { ...tool("Zoo"), source: "tools/zoo.ts" };
  assert.throws(
    () => createToolRegistry([tool("Zoo"), other]),
    (error: unknown) => {
      assert.ok(error instanceof Conflict);
      assert.equal(error.message, "Two tools are named Zoo: one from built-in, one from tools/zoo.ts.");
      return true;
    },
  );
});

test("a model is told name, description and schema", () => {
  assert.deepEqual(toolSchemas(registry.select(["Zoo"], owner)), [
    { name: "Zoo", description: "Zoo", parameters: { type: "object", properties: {}, additionalProperties: false } },
  ]);
});

test("a tool that must be named is not among all tools", () => {
  const shy = { ...tool("todo_add"), mustBeNamed: true };
  const mixed = createToolRegistry([shy, tool("now")]);
  const names = (...globs: string[]) => mixed.select(globs, owner).map(({ name }) => name);
  assert.deepEqual(names("*"), ["now"]);
  assert.deepEqual(names("todo_*"), ["todo_add"]);
  assert.deepEqual(names("*", "todo_add"), ["now", "todo_add"]);
  assert.deepEqual(names("todo_*", "!todo_add"), []);
});

test("a source that must be named is asked for its own names alone, and its names are nobody else's", async () => {
  let asked = 0;
  const ready = () => Promise.resolve();
  const shy = { name: "todo", prefix: "todo_", mustBeNamed: true, ready, tools: () => (asked++, [tool("todo_add")]) };
  const other = { name: "other", prefix: "", ready, tools: () => [tool("todo_add"), tool("todo_more"), tool("more")] };
  const named = createToolRegistry([], [shy, other]);
  const namesOf = (globs: readonly string[]) => named.select(globs, owner).map(({ name }) => name);
  assert.deepEqual(namesOf(["*"]), ["more"]);
  await named.prepare(["*"], owner);
  assert.equal(asked, 0);
  assert.deepEqual(namesOf(["todo_*", "more"]), ["more", "todo_add"]);
  assert.equal(asked, 1);
});

test("a tool that needs rights elsewhere is there for whom that system gives them, and nobody else", async () => {
  const held = new Map<string, readonly string[]>();
  const asked: string[] = [];
  const rights = {
    name: "board",
    permissions: ({ userId }: Caller) => held.get(userId) ?? [],
    ready: async ({ userId }: Caller) => void asked.push(userId),
  };
  const card = { ...tool("add_card", ["add"]), rights: "board" };
  const lost = { ...tool("lost", ["add"]), rights: "elsewhere" };
  const boards = createToolRegistry([card, lost, tool("plain")], [], { rights: [rights] });
  const names = () => boards.select(["*"], owner).map(({ name }) => name);
  assert.deepEqual(names(), ["plain"], "not even for whoever may do everything here");
  assert.deepEqual(boards.missing(card, owner), ["add"]);
  held.set("u", ["add", "view"]);
  assert.deepEqual(names(), ["add_card", "plain"]);

  await boards.prepare(["plain"], owner);
  await boards.renew(["plain", "gone"], owner, { signal: new AbortController().signal, tell: () => {} });
  assert.deepEqual(asked, [], "a system whose tools nobody names is not asked");
  await boards.prepare(["add_*"], owner);
  await boards.renew(["add_card"], owner, { signal: new AbortController().signal, tell: () => {} });
  assert.deepEqual(asked, ["u", "u"]);
});

test("what sources offer is merged once, until one of them offers another list", () => {
  const late = tool("b_late");
  const offers: Record<string, readonly ReturnType<typeof tool>[]> = { a: [tool("a_one")], b: [tool("b_one")] };
  const mine = [tool("b_mine")];
  const sources = ["a", "b"].map((name) => ({
    name,
    tools: (caller?: Caller) => (name === "b" && caller?.userId === "other" ? mine : offers[name]!),
    ready: async () => {},
  }));
  const changing = createToolRegistry([tool("a_two")], sources);
  const names = (caller = owner) => changing.select(["*"], caller).map(({ name }) => name);
  assert.deepEqual(names(), ["a_one", "a_two", "b_one"]);
  assert.equal(changing.list(), changing.list());
  assert.deepEqual(names({ ...owner, userId: "other" }), ["a_one", "a_two", "b_mine"], "each caller their own");
  assert.deepEqual(names(), ["a_one", "a_two", "b_one"]);
  offers["b"] = [late, { ...late, name: "a_one" }];
  assert.deepEqual(names(), ["a_one", "a_two", "b_late"]);
  assert.notEqual(changing.get("a_one"), offers["b"][1], "what comes first stays");
  sources.pop();
  assert.deepEqual(names(), ["a_one", "a_two"]);
});

test("what the operator set: some are not there, and the others stay the same objects", () => {
  const elsewhere = [tool("far"), tool("far_off")];
  const source = { name: "s", tools: () => elsewhere, ready: async () => {} };
  const set = createToolRegistry([tool("near"), tool("nearer")], [source], {
    settings: { available: ["near*", "far"], byName: { nearer: { enabled: false }, far: { timeout: 3 } } },
  });
  const names = set.list().map(({ name }) => name);
  assert.deepEqual(names, ["far", "near"]);
  assert.equal(set.get("nearer"), undefined);
  assert.equal(set.get("far")?.timeoutMs, 3000);
  assert.equal(set.get("far"), set.select(["*"], owner)[0]);
});

test("one source's tools may take the place of all others, as soon as it has told them", () => {
  let there: readonly Tool[] = [];
  const instead = { name: "elsewhere", tools: () => there, ready: async () => {} };
  const source = { name: "s", tools: () => listed, ready: async () => {} };
  const listed = [tool("b")];
  const both = createToolRegistry([tool("a")], [source], { instead });
  const sources = () => both.list().map(({ name, source: from }) => `${name} ${from}`);
  assert.deepEqual(sources(), ["a built-in", "b built-in"]);
  there = ["a", "b", "c"].map((name) => ({ ...tool(name), source: "elsewhere" }));
  assert.deepEqual(sources(), ["a elsewhere", "b elsewhere", "c elsewhere"]);
});
