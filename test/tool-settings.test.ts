import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { after, test } from "node:test";
import { z } from "zod";
import { loadConfig } from "../src/config/load.ts";
import { toolSettingsOf } from "../src/config/sections/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { startTestRuns, type TestRuns } from "./runs.ts";

const ask = defineTool({
  name: "ask",
  description: "Asks a model.",
  input: z.object({}),
  effect: "read",
  async execute(_input, { step }) {
    const { text, model } = await step({ messages: [{ role: "user", content: "?" }], settings: { temperature: 1 } });
    return { content: text, data: { model } };
  },
});
const slow = (name: string, timeoutMs?: number) =>
  defineTool({
    name,
    description: "Takes its time.",
    input: z.object({}),
    effect: "read",
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: (_input, { signal }) => sleep(20_000, "done", { signal }),
  });

const database = await openDatabase({ dataDirectory: await freshDataDirectory() });
await migrate(database);
after(() => database.close());

/** The three tools as these variables set them. Stopped before the next one starts: any of them takes any run. */
async function withTools<T>(env: Readonly<Record<string, string>>, use: (service: TestRuns) => Promise<T>): Promise<T> {
  const { tools } = loadConfig({ env, cwd: temporaryFolder("tool-settings") });
  const service = await startTestRuns({
    database,
    script: ["from the agent's"],
    models: [
      { id: "default", fallback: ["script"] },
      { id: "other", provider: "scripted", script: ["from the other"] },
    ],
    tools: [ask, slow("slow"), slow("slower", 30_000)],
    toolSettings: toolSettingsOf(tools),
  });
  try {
    return await use(service);
  } finally {
    await service.stop(0);
  }
}

async function resultOf(service: TestRuns, tool: string) {
  const events = await service.events(await service.runs.callTool(service.caller, { tool, arguments: "{}" }));
  return events.find((event) => event.type === "call-end")!.item.body;
}

const refused = { code: "tool_not_found" };

/** What each setting does: by its variable, as `colloquy.yaml` does it. */
const effects: Record<string, [env: Record<string, string>, check: (service: TestRuns) => Promise<unknown>]> = {
  "nothing set": [
    {},
    async (service) => {
      assert.match((await resultOf(service, "ask")).content, /the agent's/);
      assert.equal(service.model.requests[0]?.settings?.temperature, 1);
    },
  ],
  "enabled: false": [
    { TOOL_PARAMETERS: '{"ask":{"enabled":false}}' },
    async (service) => {
      await assert.rejects(resultOf(service, "ask"), refused);
      assert.match((await resultOf(service, "now")).content, /\d/);
    },
  ],
  AVAILABLE_TOOLS: [
    { AVAILABLE_TOOLS: "ask,slow*" },
    async (service) => {
      await assert.rejects(resultOf(service, "now"), refused);
      assert.match((await resultOf(service, "ask")).content, /the agent's/);
    },
  ],
  TOOL_MODELS: [
    { TOOL_MODELS: '{"ask":"other"}' },
    async (service) => {
      const { content, data } = await resultOf(service, "ask");
      assert.match(content, /the other/);
      assert.deepEqual(data, { model: "other" });
      assert.equal(service.model.requests.length, 0);
    },
  ],
  "TOOL_PARAMETERS: temperature": [
    { TOOL_PARAMETERS: '{"ask":{"temperature":0.2}}' },
    async (service) => {
      await resultOf(service, "ask");
      assert.equal(service.model.requests[0]?.settings?.temperature, 0.2);
    },
  ],
  "TOOL_PARAMETERS: timeout": [
    { TOOL_PARAMETERS: '{"slower":{"timeout":0.05}}' },
    async (service) => assert.match((await resultOf(service, "slower")).content, /within 0.05 seconds/),
  ],
  DEFAULT_TOOL_TIMEOUT: [
    { DEFAULT_TOOL_TIMEOUT: "0.05", TOOL_PARAMETERS: '{"slower":{"timeout":0.1}}' },
    async (service) => {
      assert.match((await resultOf(service, "slow")).content, /within 0.05 seconds/);
      assert.match((await resultOf(service, "slower")).content, /within 0.1 seconds/);
    },
  ],
};

for (const [name, [env, check]] of Object.entries(effects))
  test(name, async () => {
    await withTools(env, check);
  });

test("a tool that asks a model which is not there gets an error", async () => {
  const { isError, content } = await withTools({ TOOL_MODELS: '{"ask":"nobody"}' }, (service) =>
    resultOf(service, "ask"),
  );
  assert.equal(isError, true);
  assert.match(content, /nobody/);
});
