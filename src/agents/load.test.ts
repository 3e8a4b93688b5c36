import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { NotFound } from "../protocol/base/errors.ts";
import { loadAgents } from "./load.ts";

const builtIn = [
  ...["assistant", "auto", "chat", "coder", "orchestrator", "plan-execute", "react", "researcher", "taiga", "todo"],
];

async function createFolder(context: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-agents-"));
  context.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function problemsOf(context: TestContext, text: string): Promise<string[]> {
  const folder = await createFolder(context, { "helper.md": text });
  const { agents, problems } = await loadAgents({ folder });
  assert.equal(agents.has("helper"), problems.length === 0);
  return problems.map(({ file, line, message }) => `${file.slice(folder.length + 1)}:${line ?? ""} ${message}`);
}

test("the built-in assistant uses every tool", async () => {
  const { agents, problems } = await loadAgents({});
  assert.deepEqual(problems, []);
  const { instructions, description, ...assistant } = agents.get("assistant");
  assert.deepEqual(assistant, {
    id: "assistant",
    model: "default",
    strategy: "tools",
    tools: ["*"],
    agents: [],
    activation: "mention",
    approval: {},
    limits: {},
    sandbox: "none",
    settings: {},
  });
  assert.match(instructions, /^You are a helpful assistant/);
  assert.notEqual(description, "");
});

test("each built-in agent says what it is for, and works by the strategy of its kind", async () => {
  const { agents } = await loadAgents({});
  const strategies = agents.list().map(({ id, strategy, description }) => {
    assert.notEqual(description, "", id);
    return [id, strategy];
  });
  assert.deepEqual(Object.fromEntries(strategies), {
    assistant: "tools",
    auto: "auto",
    chat: "chat",
    coder: "json-actions",
    orchestrator: "json-actions",
    "plan-execute": "plan-execute",
    react: "react",
    researcher: "json-actions",
    taiga: "tools",
    todo: "tools",
  });
  assert.deepEqual(agents.get("chat").tools, []);
});

test("the orchestrator names the protocol, its team and its limits", async () => {
  const { agents } = await loadAgents({});
  const { agents: team, limits, tools, instructions } = agents.get("orchestrator");
  assert.deepEqual(team, ["coder", "researcher"]);
  assert.deepEqual(limits, { steps: 10, repeatedCall: 0, onLimit: "stop" });
  for (const name of ["read_file", "write_file", "run_python", "bash", "mcp_filesystem", "mcp_trader"])
    assert.ok(tools.includes(name), name);
  assert.deepEqual(JSON.parse(/^\{.*?^\}/ms.exec(instructions)![0]), {
    thought: "short reasoning in English",
    action: "use_tool | delegate | final",
    tool: "tool_name or null",
    target_agent: "agent_name or null",
    args: {},
    answer: "final user-facing answer or empty if not final",
  });
  for (const id of ["orchestrator", ...team]) assert.match(agents.get(id).instructions, /^\{tools\}$/m);
  for (const id of team) {
    const example: unknown = JSON.parse(/^\{"thought": .*\}$/m.exec(agents.get(id).instructions)![0]);
    assert.deepEqual(Object.keys(example as object), ["thought", "action", "tool", "target_agent", "args", "answer"]);
  }
});

test("the example of the documentation loads", async (context) => {
  const page = await readFile(join(import.meta.dirname, "../../docs/agents.md"), "utf8");
  const example = /`agents\/accountant\.md`:\n\n```markdown\n(.*?)```/s.exec(page)?.[1];
  assert.ok(example);
  const folder = await createFolder(context, { "accountant.md": example });
  const { agents, problems } = await loadAgents({ folder });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    agents.list().map(({ id }) => id),
    ["accountant", ...builtIn],
  );
  assert.deepEqual(agents.get("accountant"), {
    id: "accountant",
    description: "Adds up expenses and keeps the list of open invoices",
    model: "default",
    strategy: "tools",
    tools: ["*_task*", "calculate", "!delete_task"],
    agents: [],
    activation: "mention",
    approval: {},
    limits: { steps: 10, writes: 5 },
    settings: { temperature: 0 },
    instructions:
      "You keep the books of a small shop. Every sum comes from the calculation tool.\n" +
      "An open invoice is a task; its title begins with the name of the customer.",
    sandbox: "none",
  });
});

test("a file replaces the built-in agent of its id; one without front matter is all instructions", async (context) => {
  const folder = await createFolder(context, {
    "mine.md": "\uFEFF---\r\nid: assistant\r\n---\r\nBe brief.\r\n",
    "plain.md": "# Who you are\n\nA pirate.\n\n---\n\nArr.",
    "empty.md": "---\n---\nNothing set.",
    "README.md": "Our agents.",
    "notes.txt": "no agent",
  });
  const { agents, problems } = await loadAgents({ folder });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    agents.list().map(({ id }) => id),
    [...builtIn, "empty", "plain"].sort(),
  );
  assert.equal(agents.get("assistant").instructions, "Be brief.");
  assert.deepEqual(agents.get("assistant").tools, []);
  assert.equal(agents.get("plain").instructions, "# Who you are\n\nA pirate.\n\n---\n\nArr.");
});

test("defaults hold for what a file doesn't say, key by key", async (context) => {
  const folder = await createFolder(context, {
    "a.md": "---\nmodel: cloud\nlimits: { steps: 3 }\nsettings: { temperature: 1 }\n---\n",
  });
  const defaults = { model: "local", limits: { steps: 9, writes: 2 }, settings: { topP: 0.5 } };
  const { agents } = await loadAgents({ folder, defaults });
  const { model, limits, settings } = agents.get("a");
  assert.deepEqual(
    { model, limits, settings },
    {
      model: "cloud",
      limits: { steps: 3, writes: 2 },
      settings: { temperature: 1, topP: 0.5 },
    },
  );
  assert.equal(agents.get("assistant").model, "default", "the built-in agent names its model");
  assert.deepEqual(agents.get("assistant").limits, defaults.limits);
});

test("a fault is told with file, line, key and suggestion", async (context) => {
  assert.deepEqual(await problemsOf(context, "---\nmodell: local\ntols: []\n---\n"), [
    "helper.md:2 modell is not a known key. Did you mean model?",
    "helper.md:3 tols is not a known key. Did you mean tools?",
  ]);
  assert.deepEqual(await problemsOf(context, "---\nlimits:\n  steps: 5\n  write: 5\n---\n"), [
    "helper.md:4 limits.write is not a known key. Did you mean writes?",
  ]);
  assert.match(
    (await problemsOf(context, "---\ncolour: red\n---\n"))[0] ?? "",
    /^helper\.md:2 colour is not a known key\. Available: id, description, model, .*approval, .*sandbox/,
  );
  const [tools, steps, temperature] = await problemsOf(
    context,
    "---\ntools:\n  - now\n  - 7\nlimits:\n  steps: many\nsettings: { temperature: 3 }\n---\n",
  );
  assert.match(tools ?? "", /^helper\.md:4 tools\.1: .*string/);
  assert.match(steps ?? "", /^helper\.md:6 limits\.steps: .*number/);
  assert.match(temperature ?? "", /^helper\.md:7 settings\.temperature: .*2$/);
  assert.match((await problemsOf(context, "---\nlimits: 5\n---\n"))[0] ?? "", /^helper\.md:2 limits: .*object/);
  assert.match((await problemsOf(context, "---\nid: Big One\n---\n"))[0] ?? "", /^helper\.md:2 id: lower-case letters/);
  assert.match(
    (await problemsOf(context, "---\ninstructions: hi\n---\n"))[0] ?? "",
    /^helper\.md:2 The instructions are/,
  );
});

test("broken YAML is told with its line", async (context) => {
  assert.match((await problemsOf(context, "---\nmodel: local\n"))[0] ?? "", /^helper\.md:1 .*no second ---/);
  assert.match((await problemsOf(context, "---\nmodel: a\ntools: [a\n---\n"))[0] ?? "", /^helper\.md:\d /);
  assert.match((await problemsOf(context, "---\nmodel: a\nmodel: b\n---\n"))[0] ?? "", /^helper\.md:3 .*unique/);
  assert.match((await problemsOf(context, "---\n- a\n---\n"))[0] ?? "", /^helper\.md:2 .*key: value/);
  const ten = (name: string) => Array(10).fill(name).join(",");
  const bomb = `a: &a [${ten("x")}]\nb: &b [${ten("*a")}]\nc: &c [${ten("*b")}]\nd: &d [${ten("*c")}]`;
  assert.match((await problemsOf(context, `---\n${bomb}\n---\n`))[0] ?? "", /^helper\.md:2 .*alias/);
  assert.match((await problemsOf(context, "---\nmodel: *nothing\n---\n"))[0] ?? "", /^helper\.md:2 .*alias/);
});

test("good files are kept beside bad ones, and an id counts once", async (context) => {
  const folder = await createFolder(context, {
    "Bad Name.md": "x",
    "a.md": "first",
    "b.md": "---\nid: a\n---\nsecond",
    "c.md": "third",
    "large.md": "x".repeat(1_000_001),
  });
  const { agents, problems } = await loadAgents({ folder });
  assert.deepEqual(
    agents.list().map(({ id }) => id),
    ["a", "c", ...builtIn].sort(),
  );
  assert.equal(agents.get("a").instructions, "first");
  const told = problems.map(({ message }) => message).join("\n");
  assert.match(
    told,
    /^id: lower-case.*\nThere is already an agent a, in .*a\.md\.\nThe file is larger than 1000000 bytes\.$/,
  );
});

test("a folder that isn't there has no agents", async () => {
  const { agents, problems } = await loadAgents({ folder: "/nowhere/agents" });
  assert.deepEqual(
    agents.list().map(({ id }) => id),
    builtIn,
  );
  assert.deepEqual(problems, []);
});

test("an unknown agent is an error with the known ids", async () => {
  const { agents } = await loadAgents({});
  assert.throws(
    () => agents.get("asistant"),
    (error: unknown) => {
      assert.ok(error instanceof NotFound);
      assert.equal(error.code, "agent_not_found");
      assert.equal(
        error.message,
        `Agent "asistant" not found. Did you mean assistant? Known agents: ${builtIn.join(", ")}.`,
      );
      return true;
    },
  );
});
