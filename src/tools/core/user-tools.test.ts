import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ToolContext } from "../../protocol/agents/tools.ts";
import { executeTool, parseCall } from "./call-tool.ts";
import { now } from "../basic/now.ts";
import { loadUserTools } from "./user-tools.ts";

async function createFolder(context: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-tools-"));
  context.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

function toolFile(name: string): string {
  return `export default ({ defineTool, z }) =>
    defineTool({ name: "${name}", description: "x", input: z.object({}), effect: "read", execute: () => "${name}" });`;
}

const callContext: ToolContext = {
  caller: { userId: "u", name: "Ada", role: "user", permissions: [], via: "local" },
  threadId: "t",
  rootThreadId: "t",
  runId: "r",
  call: { step: "1", index: 0 },
  signal: new AbortController().signal,
  idempotencyKey: "k",
  answers: [],
  ownHeaders: () => ({}),
  query: async () => [],
  step: () => Promise.reject(new Error("no model here")),
  progress: () => {},
};

test("the weather tool of the documentation loads and runs", async (context) => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/tools.md"), "utf8");
  const example = /`tools\/weather\.ts`:\n\n```ts\n(.*?)```/s.exec(page)?.[1];
  assert.ok(example);
  const asked: string[] = [];
  const service = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(request.url?.includes("latitude=0&") ? 503 : 200, { "content-type": "application/json" });
    response.end('{"current":{"time":"2026-03-01T12:00","temperature_2m":11.5,"wind_speed_10m":7}}');
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  context.after(() => service.close());
  process.env["WEATHER_URL"] = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  context.after(() => delete process.env["WEATHER_URL"]);

  const folder = await createFolder(context, { "weather.ts": example });
  const { tools, problems } = await loadUserTools(folder);
  assert.deepEqual(problems, []);
  const [weather] = tools;
  assert.ok(weather && tools.length === 1);
  assert.equal(weather.source, join(folder, "weather.ts"));
  assert.equal(weather.timeoutMs, 10_000);

  const call = parseCall(weather, '{"latitude": 52.5, "longitude": 13.4}');
  assert.ok(call.ok);
  const result = await executeTool(weather, call.input, callContext);
  assert.deepEqual(result, { content: '{"celsius":11.5,"windKmh":7}', data: { celsius: 11.5, windKmh: 7 } });
  assert.deepEqual(asked, ["/v1/forecast?latitude=52.5&longitude=13.4&current=temperature_2m,wind_speed_10m"]);
  const failed = await executeTool(weather, { latitude: 0, longitude: 0 }, callContext);
  assert.deepEqual(failed, { content: "The weather service answered 503.", isError: true });
  assert.equal(parseCall(weather, '{"latitude": 91, "longitude": 0}').ok, false);
});

test("a folder that isn't there has no tools", async () => {
  assert.deepEqual(await loadUserTools("/nowhere/tools"), { tools: [], problems: [] });
});

test("files of all three kinds are loaded in the order of their names, others left alone", async (context) => {
  const folder = await createFolder(context, {
    "c.mjs": `export default async ({ defineTool, z }) => ["c1", "c2"].map((name) =>
      defineTool({ name, description: "x", input: z.object({}), effect: "read", execute: () => name }));`,
    "b.ts": toolFile("b"),
    "a.js": toolFile("a"),
    "package.json": '{"type":"module"}',
    "b.test.ts": "throw new Error('a test was loaded')",
    "types.d.ts": "export type X = 1",
    ".hidden.js": "throw new Error('a hidden file was loaded')",
    "notes.md": "# Notes",
  });
  await mkdir(join(folder, "folder.ts"));
  const { tools, problems } = await loadUserTools(folder);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["a", "b", "c1", "c2"],
  );
});

test("files with problems are told, with their line where there is one, and the good ones kept", async (context) => {
  const folder = await createFolder(context, {
    "package.json": '{"type":"module"}',
    "a-good.ts": toolFile("good"),
    "b-syntax.ts": "export default () => {\n  let x: number = ;\n};",
    "c-nothing.ts": "export const tool = 1;",
    "d-name.ts": toolFile("not a name"),
    "e-twice.ts": toolFile("good"),
    "f-built-in.ts": toolFile("now"),
    "g-throws.ts": "\n\nthrow new Error('no key');",
    "h-other.ts": "export default () => ({ name: 'h', execute() {} });",
    "i-import.ts": "import 'no-such-package';",
    "j-good.ts": toolFile("better"),
  });
  const { tools, problems } = await loadUserTools(folder, { taken: [now] });
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["good", "better"],
  );
  const told = problems.map(({ file, line, message }) => `${file.slice(folder.length + 1)}:${line ?? ""} ${message}`);
  const expected = [
    /^b-syntax\.ts:2 .*[Ee]xpression expected/,
    /^c-nothing\.ts: It has no default export/,
    /^d-name\.ts:\d+ The tool "not a name" is not valid: its name must be/,
    /^e-twice\.ts: There is already a tool named good, from .*a-good\.ts/,
    /^f-built-in\.ts: There is already a tool named now, from built-in/,
    /^g-throws\.ts:3 no key/,
    /^h-other\.ts: The default export must return a tool made with defineTool/,
    /^i-import\.ts: Cannot find package 'no-such-package'/,
  ];
  assert.equal(told.length, expected.length, told.join("\n"));
  for (const [index, pattern] of expected.entries()) assert.match(told[index] ?? "", pattern);
});
