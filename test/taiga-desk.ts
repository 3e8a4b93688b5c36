import type { TaigaToken } from "../src/protocol/threads/taiga.ts";
import type { Caller } from "../src/protocol/base/callers.ts";
import { newId } from "../src/protocol/base/ids.ts";
import type { PlannedWrite, ToolAnswer, ToolContext, ToolResult } from "../src/protocol/agents/tools.ts";
import { executeTool, checkCall, parseCall } from "../src/tools/core/call-tool.ts";
import { createToolRegistry } from "../src/tools/core/registry.ts";
import { taigaSystem } from "../src/tools/taiga/access.ts";
import { createTaiga, type TaigaOptions } from "../src/tools/taiga/taiga.ts";
import type { Taiga } from "./taiga/server.ts";
import type { Username } from "./taiga/sample-data.ts";

export const noSecrets: TaigaOptions["secrets"] = { read: async () => undefined, replace: async () => {} };

export type DeskOptions = Omit<Partial<TaigaOptions>, "project"> & {
  readonly project?: string;
  readonly configuredProject?: string;
  readonly token?: TaigaToken;
};
type CallOptions = { readonly key?: string; readonly answers?: readonly ToolAnswer[]; readonly signal?: AbortSignal };

/** The Taiga tools as somebody uses them, without a run around them. */
export async function deskOf(server: Taiga, username: Username, options: DeskOptions = {}) {
  const {
    project = "acme-app",
    configuredProject,
    token = { token: server.tokensOf(username).auth_token },
    ...rest
  } = options;
  const taiga = createTaiga({
    url: server.url,
    marker: "external_reference",
    secrets: noSecrets,
    project: configuredProject,
    ...rest,
  });
  const { standing } = await taiga.access.enter(token, project, AbortSignal.timeout(5000));
  const caller: Caller = {
    userId: newId(),
    name: username,
    role: "user",
    permissions: ["tool:*"],
    via: "api-key",
    elsewhere: { [taigaSystem]: standing },
  };
  const registry = createToolRegistry(taiga.tools, [], { rights: [taiga.access] });
  const contextOf = ({ key = newId(), answers = [], signal }: CallOptions): ToolContext => ({
    caller,
    threadId: newId(),
    rootThreadId: newId(),
    runId: newId(),
    call: { step: "1", index: 0 },
    signal: signal ?? new AbortController().signal,
    idempotencyKey: key,
    query: async () => [],
    step: () => Promise.reject(new Error("no model here")),
    answers,
    ownHeaders: () => ({}),
    progress: () => {},
  });
  const toolNamed = (name: string) => {
    const tool = registry.get(name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    return tool;
  };
  return {
    caller,
    registry,
    access: taiga.access,
    close: taiga.close,
    names: () => registry.select(["*"], caller).map(({ name }) => name),
    /** As a call with these arguments goes, whether or not the caller may. */
    async call(name: string, given: object = {}, callOptions: CallOptions = {}): Promise<ToolResult> {
      const parsed = parseCall(toolNamed(name), JSON.stringify(given));
      return parsed.ok ? executeTool(toolNamed(name), parsed.input, contextOf(callOptions)) : parsed.result;
    },
    /** Why it can't be done, or can't be planned after these. */
    async check(name: string, given: object, planned: readonly PlannedWrite[] = []): Promise<string | undefined> {
      const tool = toolNamed(name);
      return (await checkCall({ tool, input: tool.input.parse(given) }, contextOf({}), planned))?.content;
    },
    reconcile: (name: string, given: object, key: string) =>
      toolNamed(name).reconcile!(toolNamed(name).input.parse(given), contextOf({ key })),
  };
}
