import { createAgentRegistry } from "../src/agents/registry.ts";
import { createModels } from "../src/models/registry.ts";
import type { Script, ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { Database } from "../src/store/driver/database.ts";
import { createToolRegistry } from "../src/tools/core/registry.ts";
import type { TaigaOptions } from "../src/tools/taiga/taiga.ts";
import { openTestTaiga } from "./open-taiga.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "./runs.ts";
import { serve, servicesWith, type Serving } from "./serve.ts";

export type TaigaAgentOptions = Omit<TestRunsOptions, "database" | "script"> & {
  readonly url: string;
  readonly script: Script;
  readonly taiga?: Partial<TaigaOptions>;
  readonly hooks?: readonly string[];
  /** Instead of the script. */
  readonly model?: string;
};
export type TaigaAgent = TestRuns & Pick<Serving, "url"> & { close(): Promise<void> };

/** A node with the agent `taiga` and its tools, as the server has them but for the model: a script. */
export async function serveTaigaAgent(database: Database, options: TaigaAgentOptions): Promise<TaigaAgent> {
  const { url, script, hooks, model, ...rest } = options;
  const { agent: builtIn, ...taiga } = await openTestTaiga(database, { url, ...options.taiga });
  const agent = model === undefined ? builtIn : { ...builtIn, model };
  const service = await startTestRuns({
    ...rest,
    database,
    script,
    tools: [...taiga.tools, ...(options.tools ?? [])],
    rights: [taiga.access],
    agents: [agent, ...(options.agents ?? [])],
  });
  const serving = await serve(
    servicesWith({
      models: createModels({ models: [] }),
      agents: createAgentRegistry([agent]),
      tools: createToolRegistry(taiga.tools, [], { rights: [taiga.access] }),
      taiga: taiga.access,
      taigaSessions: taiga.desk,
      hooks: hooks ?? [],
      runs: service.runs,
      threads: service.threads,
      approvals: service.approvals,
      access: { mode: "local", owner: service.caller, owning: "open" },
    }),
  );
  return {
    ...service,
    url: serving.url,
    async close() {
      await serving.close();
      await service.stop(0);
      await taiga.close();
    },
  };
}

export const minutes = `Minutes of the planning of sprint 6 (2 November)
- Orders can be exported: as CSV and as PDF, and there is a button for it. Bruno does the CSV.
- Customers are reminded of open invoices: a mail, a setting to switch it off, a log of what was sent.
- The search finds orders by number: an index, the field on the first page.
Create user stories and tasks and add them to Sprint 6.`;

const plan: readonly { readonly story: string; readonly tasks: readonly string[] }[] = [
  { story: "Export orders", tasks: ["Export as CSV", "Export as PDF", "Button for the export"] },
  { story: "Remind of open invoices", tasks: ["Send the mail", "Setting to switch it off", "Log of what was sent"] },
  { story: "Find orders by number", tasks: ["Index of order numbers", "Field on the first page", "Empty result"] },
];
/** What there is afterwards, each once. */
export const planned: Readonly<Record<string, number>> = Object.fromEntries(
  plan.flatMap(({ story, tasks }) => [story, ...tasks]).map((subject) => [subject, 1]),
);

/** A model that turns these minutes into three stories with three tasks each, by what the results tell it. */
export const planningModel: Script = ({ messages }): ScriptAnswer => {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const ids = results.filter((text) => /"(created|planned)"/.test(text)).map((text) => readId(text));
  if (results.length === 0)
    return [{ call: "taiga_get_milestone_by_name", arguments: { name: "Sprint 6" } }, { finish: "calls" }];
  const sprint = readId(results[0]!);
  if (results.length === 1)
    return [
      ...plan.map(({ story: subject }) => ({
        call: "taiga_create_user_story",
        arguments: { subject, milestone_id: sprint },
      })),
      { finish: "calls" },
    ];
  if (results.length === 1 + plan.length)
    return [
      ...plan.flatMap(({ tasks }, index) =>
        tasks.map((subject) => ({ call: "taiga_create_task", arguments: { subject, user_story_id: ids[index] } })),
      ),
      { finish: "calls", usage: { inputTokens: 100, outputTokens: 50 } },
    ];
  return `Made ${ids.length} things in sprint ${String(sprint)}.`;
};

/** A model that deletes one story. */
export const deletingModel = (id: number): Script => [
  [{ call: "taiga_delete_user_story", arguments: { user_story_id: id } }, { finish: "calls" }],
  "It is gone.",
];

/** Of what a tool said: a number, or what stands for one. */
function readId(text: string): unknown {
  return (JSON.parse(text) as { readonly id: unknown }).id;
}
