import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { NotFound } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import { loadPrompts } from "./load-prompts.ts";
import { fillPrompt, promptPlaceholders } from "./prompt-placeholders.ts";

type Files = Readonly<Record<string, string | Buffer>>;

async function createFolder(context: TestContext, files: Files = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-prompts-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

async function load(context: TestContext, files: Files) {
  const folder = await createFolder(context, files);
  const { prompts, problems } = await loadPrompts({ folder });
  const told = problems.map(({ file, line, message }) => `${file.slice(folder.length + 1)}:${line ?? ""} ${message}`);
  return { folder, prompts, problems: told.map((text) => text.replaceAll(`${folder}/`, "")) };
}

/** A folder that is read anew at every refresh, and what is logged then. */
async function watch(context: TestContext, files: Files) {
  const folder = await createFolder(context, files);
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, text: string) => void lines.push(`${level} ${text}`);
  const log: Log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const { prompts } = await loadPrompts({ folder, log, maximumAgeMs: 0 });
  const refreshed = async (name: string) => {
    await prompts.refresh();
    return prompts.get(name);
  };
  return { folder, prompts, refreshed, logged: () => lines.splice(0), file: (name: string) => join(folder, name) };
}

test("every built-in prompt is in order and can be filled", async () => {
  const { prompts, problems } = await loadPrompts({});
  assert.deepEqual(problems, []);
  assert.deepEqual(
    prompts.list().map(({ name }) => name),
    [...promptPlaceholders.keys()],
  );
  for (const { name, text } of prompts.list()) {
    const { required, optional } = promptPlaceholders.get(name)!;
    const values = Object.fromEntries([...required, ...optional].map((each) => [each, `<${each}>`]));
    assert.doesNotMatch(fillPrompt(text, values), /\{\w+\}|\{\{|^\s*"\w+": \}/m, name);
    assert.ok(text.length < 3000, name);
  }
});

test("the JSON that a prompt shows is JSON when it is filled", async () => {
  const { prompts } = await loadPrompts({});
  const filled = (name: string, values: Record<string, string>) => fillPrompt(prompts.get(name), values);
  const json = (text: string): unknown => JSON.parse(/^\{.*?^\}|^\{.*\}$/ms.exec(text)![0]);
  const plan = { reason: "", plan: "", results: "", tools: "", max_steps: "3", instructions: "", now: "" };
  assert.deepEqual(json(filled("plan_create", plan)), { steps: ["the first step", "the second step"] });
  assert.deepEqual(json(filled("plan_revise", plan)), { steps: ["the next step", "the one after it"] });
  assert.deepEqual(Object.keys(json(filled("auto_choose", { question: "", strategies: "", tools: "" })) as object), [
    "strategy",
    "reason",
  ]);
  assert.deepEqual(json(filled("json_actions_repair", { reason: "" })), {
    thought: "short reasoning in English",
    action: "use_tool | delegate | final",
    tool: "tool_name or null",
    target_agent: "agent_name or null",
    args: {},
    answer: "final user-facing answer or empty if not final",
  });
});

test("the nanocoder prompts differ only in what they say of python_coder", async () => {
  const { prompts } = await loadPrompts({});
  for (const name of ["react_system", "react_thought"]) {
    const [code, words] = [name, `${name}_nanocoder`].map((each) => prompts.get(each).split("\n"));
    const differing = code!.filter((line, index) => line !== words![index]);
    assert.equal(code!.length, words!.length);
    assert.equal(differing.length, 1);
    assert.match(differing[0]!, /python_coder.*Python code/);
    assert.match(
      words!.find((line) => !code!.includes(line))!,
      /python_coder.*instruction in plain words, never code/,
    );
  }
});

test("a user's file replaces the built-in prompt of its name, wherever it stands", async (context) => {
  const { prompts, problems, folder } = await load(context, {
    "react_final.md": "\uFEFFBe brief.\r\n{scratchpad}\r\n\r\n",
    "agents/plan_answer.txt": "Say it: {results}",
    "tools/summarise.txt": "{conversation}",
    "README.md": "Ours.",
    "react_thought.txt~": "an editor's copy",
    ".react_thought.txt.swp": "another",
    "older/react_thought.txt": "not read",
  });
  assert.deepEqual(problems, []);
  assert.equal(prompts.get("react_final"), "Be brief.\n{scratchpad}");
  assert.equal(prompts.get("plan_answer"), "Say it: {results}");
  assert.deepEqual(
    prompts.list().flatMap(({ file }) => file ?? []),
    [join(folder, "react_final.md"), join(folder, "agents/plan_answer.txt"), join(folder, "tools/summarise.txt")],
  );
});

test("a faulty file is told with its place, and the built-in prompt is used", async (context) => {
  const builtIn = await loadPrompts({});
  const { prompts, problems } = await load(context, {
    "auto_choose.txt": "Choose.\n{strategys} of {question}",
    "json_actions_repair.txt": '{reason}\n{"a": 1}',
    "plan_step.txt": "{step}".padEnd(100_001),
    "plan_create.txt": Buffer.from("{tools} {max_steps} \xfc", "latin1"),
    "plan_revise.txt": Buffer.from("{reason} {max_steps}", "utf16le"),
    "react_final.md": "one {scratchpad}",
    "react_final.txt": "two {scratchpad}",
    "react_toughts.txt": "{scratchpad}",
    "summarise.txt": "",
  });
  assert.deepEqual(problems, [
    "auto_choose.txt:2 {strategys} is not a placeholder of auto_choose. Did you mean {strategies}?",
    "auto_choose.txt: {strategies} is missing; auto_choose can't do without it.",
    'json_actions_repair.txt:2 A brace that begins or ends no placeholder is written twice, as in {{"a": 1}}.',
    "plan_create.txt: The file is not text in UTF-8.",
    "plan_revise.txt: The file is not text in UTF-8.",
    "plan_step.txt: The file is larger than 100000 bytes.",
    "react_final.txt: There is already a prompt react_final, in react_final.md.",
    'react_toughts.txt: Prompt "react_toughts" not found. Did you mean react_thought?',
    "summarise.txt: The file is empty.",
  ]);
  assert.equal(prompts.get("auto_choose"), builtIn.prompts.get("auto_choose"));
  assert.equal(prompts.get("react_final"), "one {scratchpad}");
});

test("a name that is none is an error with the known ones", async () => {
  const { prompts } = await loadPrompts({ folder: "/nowhere/prompts" });
  assert.throws(
    () => prompts.get("react_obsevation"),
    (error) =>
      error instanceof NotFound &&
      /"react_obsevation" not found\. Did you mean react_observation\?$/.test(error.message),
  );
  assert.throws(() => prompts.get("weather"), /Available: react_system, /);
});

test("a changed, replaced, new or removed file counts at the next refresh", async (context) => {
  const { refreshed, logged, file } = await watch(context, { "react_final.txt": "1 {scratchpad}" });
  assert.equal(await refreshed("react_final"), "1 {scratchpad}");
  assert.deepEqual(logged(), []);
  // Of the same length and in the same instant: nothing but the text tells the difference.
  await writeFile(file("react_final.txt"), "2 {scratchpad}");
  assert.equal(await refreshed("react_final"), "2 {scratchpad}");
  await writeFile(file("react_final.txt.new"), "3 {scratchpad}");
  await rename(file("react_final.txt.new"), file("react_final.txt"));
  assert.equal(await refreshed("react_final"), "3 {scratchpad}");
  await mkdir(file("agents"));
  await writeFile(file("agents/plan_step.md"), "New: {step}");
  assert.equal(await refreshed("plan_step"), "New: {step}");
  await rm(file("react_final.txt"));
  assert.match(await refreshed("react_final"), /^Your work on the request/);
  assert.deepEqual(logged(), Array(4).fill("info prompt changed"));
});

test("a link that is turned to another file counts too", async (context) => {
  const { refreshed, file } = await watch(context, { "v1/a": "1 {scratchpad}", "v2/a": "2 {scratchpad}" });
  for (const version of ["v1", "v2"]) {
    await rm(file("react_final.txt"), { force: true });
    await symlink(file(`${version}/a`), file("react_final.txt"));
    assert.equal(await refreshed("react_final"), `${version.slice(1)} {scratchpad}`);
  }
});

test("a file that became faulty keeps the last good text, and is told once for each fault", async (context) => {
  const { refreshed, logged, file } = await watch(context, { "react_final.txt": "good {scratchpad}" });
  const fault = "warn prompt left as it was: ";
  const write = (text: string) => writeFile(file("react_final.txt"), text);
  await write("");
  for (let time = 0; time < 3; time++) assert.equal(await refreshed("react_final"), "good {scratchpad}");
  assert.deepEqual(logged(), [`${fault}The file is empty.`]);
  await write("{scratch}");
  assert.equal(await refreshed("react_final"), "good {scratchpad}");
  assert.deepEqual(logged(), [
    `${fault}{scratch} is not a placeholder of react_final. Did you mean {scratchpad}?`,
    `${fault}{scratchpad} is missing; react_final can't do without it.`,
  ]);
  await write("better {scratchpad}");
  assert.equal(await refreshed("react_final"), "better {scratchpad}");
  assert.deepEqual(logged(), ["info prompt changed"]);
  await write("");
  assert.equal(await refreshed("react_final"), "better {scratchpad}");
  assert.deepEqual(logged(), [`${fault}The file is empty.`]);
});

test("a folder that can't be read changes nothing", async (context) => {
  const { folder, refreshed, logged } = await watch(context, { "react_final.txt": "good {scratchpad}" });
  await rm(folder, { recursive: true });
  await writeFile(folder, "a file in the folder's place");
  for (let time = 0; time < 2; time++) assert.equal(await refreshed("react_final"), "good {scratchpad}");
  const [line, ...others] = logged();
  assert.match(line ?? "", /^warn prompt left as it was: The folder can't be read: ENOTDIR/);
  assert.deepEqual(others, []);
});

test("what was read is not read again before its time, and many refreshes read once", async (context) => {
  const folder = await createFolder(context);
  const { prompts } = await loadPrompts({ folder, maximumAgeMs: 3_600_000 });
  await writeFile(join(folder, "react_final.txt"), "new {scratchpad}");
  await Promise.all(Array.from({ length: 1000 }, () => prompts.refresh()));
  assert.match(prompts.get("react_final"), /^Your work on the request/);
});

test("docs/prompts.md has every prompt with its placeholders, and its example loads", async (context) => {
  const page = await readFile(join(import.meta.dirname, "../../docs/prompts.md"), "utf8");
  const rows = [...page.matchAll(/^\| (`[a-z_`, ]+`) \|[^|]*\|([^|]*)\|([^|]*)\|$/gm)];
  const codes = (cell: string) => [...cell.matchAll(/`\{?(\w+)\}?`/g)].map(([, code]) => code!);
  const documented = rows.flatMap(([, names, required, optional]) =>
    codes(names!).map((name) => [name, { required: codes(required!), optional: codes(optional!) }] as const),
  );
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(promptPlaceholders));
  const example = /`prompts\/react_final\.txt`:\n\n```text\n(.*?)```/s.exec(page)?.[1];
  assert.ok(example);
  const { prompts, problems } = await load(context, { "react_final.txt": example });
  assert.deepEqual(problems, []);
  assert.match(
    fillPrompt(prompts.get("react_final"), { scratchpad: "Observation: 4" }),
    /^Observation: 4$.*\{"source"/ms,
  );
});
