import { agentSchema, type AgentDefinition } from "../../protocol/agents/agents.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { InvalidInput, NotFound, Unavailable } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { parseCall, unknownTool } from "../../tools/core/call-tool.ts";
import { toolSchemas } from "../../tools/core/registry.ts";
import type { NewRun } from "../lifecycle/accept.ts";
import { startOrQueue } from "./admit.ts";
import { findOpenThread, inThread } from "./start-run.ts";
import type { RunStart, ToolCallRequest } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { directCall } from "../turn/direct-call.ts";

/** Longest wait with an open connection; a server's own timeout may be shorter. */
const longestWaitMs = 60_000;

/**
 * A person or program calls a tool itself: a run whose one item is the call, as step 0, index 0. All else is as for an
 * agent's call: rights, approval, limits, ledger, recovery. What can't be right is refused before anything is written.
 */
export async function callTool(runtime: Runtime, caller: Caller, input: ToolCallRequest): Promise<RunStart> {
  await runtime.tools.prepare(["*"], caller);
  const waiting = { signal: AbortSignal.timeout(longestWaitMs), tell: () => {} };
  const absent = (await runtime.tools.renew([input.tool], caller, waiting)).get(input.tool);
  if (absent !== undefined) throw new Unavailable(absent, { code: "tool_unavailable", retryAfterSeconds: 5 });
  const tools = runtime.tools.select(["*", input.tool], caller);
  const tool = tools.find(({ name }) => name === input.tool);
  const unavailable = runtime.tools.get(input.tool)?.unavailable;
  if (unavailable !== undefined)
    throw new Unavailable(`${input.tool} can't be used here. ${unavailable}`, { code: "tool_unavailable" });
  if (!tool) throw new NotFound(unknownTool(input.tool, tools).content, { code: "tool_not_found", param: "name" });
  const parsed = parseCall(tool, input.arguments);
  if (!parsed.ok) throw new InvalidInput(parsed.result.content, { code: "invalid_arguments", param: "arguments" });

  const { sessionKey = null, idempotency = null } = input;
  const find = () => findOpenThread(runtime, caller, input);
  return inThread(find, (thread) => {
    const existing = thread?.id;
    const runId = newId();
    const call: NewRun["items"][number] = {
      id: newId(),
      kind: "call",
      step: "0",
      index: 0,
      author: caller.name,
      body: { name: tool.name, arguments: input.arguments, target: "server" },
      run: runId,
    };
    const beginning: NewRun = {
      runId,
      threadId: existing ?? newId(),
      caller,
      definition: {
        version: 1,
        agent: callerOf(tool),
        options: {},
        limits: runtime.limits,
        tools: toolSchemas([tool]),
      },
      items: [call],
      idempotency,
      newThread: existing
        ? null
        : { title: tool.name, hidden: sessionKey === null, sessionKey, days: runtime.retention.hiddenThreadsDays },
    };
    return startOrQueue(runtime, beginning, {});
  });
}

/** Stands where a run has its agent; no file can define one with such an id. */
function callerOf({ name }: Tool): AgentDefinition {
  return { ...agentSchema.parse({ id: "tool", strategy: directCall, tools: [name] }), id: `tool:${name}` };
}
