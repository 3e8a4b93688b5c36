import { createHash } from "node:crypto";
import type { Caller } from "../../protocol/base/callers.ts";
import { ColloquyError, Conflict } from "../../protocol/base/errors.ts";
import type { Query, Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { claimTaskCall, keepTaskCall } from "../../store/tasks/task-calls.ts";
import { executeTool, normaliseArguments, parseCall } from "../core/call-tool.ts";
import { taskTools } from "./tasks.ts";
import { errorResult } from "../core/tool-result.ts";

export type TaskCall = {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Unique among the user's calls: sent again, it changes nothing and is answered the same. */
  readonly key?: string;
  /** Whose text its caller had read. */
  readonly outside?: readonly string[];
  readonly signal: AbortSignal;
};

/** The task tools without a run around them, for an MCP server that is called by runs itself. */
export type TaskCalls = {
  readonly tools: readonly Tool[];
  /** Throws Conflict if the key came with other arguments before. */
  call(caller: Caller, call: TaskCall): Promise<ToolResult>;
};

export function createTaskCalls({ query, transaction }: Pick<Database, "query" | "transaction">): TaskCalls {
  const byName = new Map(taskTools.map((tool) => [tool.name, tool]));
  return {
    tools: taskTools,
    async call(caller, { tool: name, arguments: given, key, outside, signal }) {
      const tool = byName.get(name);
      if (!tool) return errorResult(`Tool ${JSON.stringify(name)} not found.`);
      const { user_id: user, ...values } = given;
      // Whose tasks they are is known already; a model that writes it may only agree.
      if (user !== undefined && user !== caller.userId && user !== caller.name)
        return errorResult(
          "user_id is somebody else's. Leave it out: the tasks are those of the user who is logged in.",
        );
      const text = JSON.stringify(values);
      const parsed = parseCall(tool, text);
      if (!parsed.ok) return parsed.result;
      const work = (within: Query) =>
        executeTool(tool, parsed.input, contextOf(caller, { query: within, signal, key, outside }));
      if (tool.effect === "read") return work(query);
      if (key === undefined) return transaction(work);
      const keyed = { userId: caller.userId, key, argumentsHash: hashOf([name, normaliseArguments(text)]) };
      return transaction(async (within) => {
        const earlier = await claimTaskCall(within, keyed);
        if (earlier && earlier.argumentsHash !== keyed.argumentsHash)
          throw new Conflict("This idempotency key was used before, for another call.", {
            code: "idempotency_key_reused",
          });
        if (earlier) return earlier.result;
        const result = await work(within);
        await keepTaskCall(within, keyed, result);
        return result;
      });
    },
  };
}

/** What a tool on our own tables uses is the caller and the transaction; the rest belongs to runs. */
function contextOf(
  caller: Caller,
  { query, signal, key = "", outside = [] }: Pick<TaskCall, "signal" | "key" | "outside"> & { readonly query: Query },
): ToolContext {
  return {
    caller,
    query,
    signal,
    threadId: "",
    rootThreadId: "",
    runId: "",
    call: { step: "0", index: 0 },
    idempotencyKey: key,
    step: () => Promise.reject(new ColloquyError("no_run", 500, "A call without a run has no model.")),
    answers: [],
    outside: async () => outside,
    ownHeaders: () => ({}),
    progress: () => {},
  };
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
