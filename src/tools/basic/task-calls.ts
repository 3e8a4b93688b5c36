import { createHash } from "node:crypto";
import type { Caller } from "../../protocol/base/callers.ts";
import { ColloquyError, Conflict } from "../../protocol/base/errors.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { Query, Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { claimTaskCall, keepTaskCall } from "../../store/tasks/task-calls.ts";
import { executeTool, normaliseArguments, parseCall } from "../core/call-tool.ts";
import { taskTools, taskToolsOn } from "./tasks.ts";
import { errorResult } from "../core/tool-result.ts";

export type TaskCall = {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Unique among the user's calls: sent again, it changes nothing and is answered the same. */
  readonly key?: string;
  /** Whose text its caller had read. */
  readonly outside?: readonly string[];
  /** Another `user_id` than the caller's names a list of its own among the caller's. */
  readonly namesLists?: boolean;
  readonly signal: AbortSignal;
};

/** The task tools without a run around them, for an MCP server that is called by runs itself. */
export type TaskCalls = {
  readonly tools: readonly Tool[];
  /** Throws Conflict if the key came with other arguments before. */
  call(caller: Caller, call: TaskCall): Promise<ToolResult>;
};

const longestName = 200;

export function createTaskCalls({ query, transaction }: Pick<Database, "query" | "transaction">): TaskCalls {
  return {
    tools: taskTools,
    async call(caller, { tool: name, arguments: given, key, outside, namesLists = false, signal }) {
      const { user_id: user, ...values } = given;
      const onList = listOf(caller, user);
      // Whose tasks they are is known already; a model that writes it may only agree.
      if (onList === undefined || (onList !== "" && !namesLists))
        return errorResult(
          "user_id is somebody else's. Leave it out: the tasks are those of the user who is logged in.",
        );
      const tool = (onList === "" ? taskTools : taskToolsOn(onList)).find((each) => each.name === name);
      if (!tool) return errorResult(`Tool ${JSON.stringify(name)} not found.`);
      const text = JSON.stringify(values);
      const parsed = parseCall(tool, text);
      if (!parsed.ok) return parsed.result;
      const work = (within: Query) =>
        executeTool(tool, parsed.input, contextOf(caller, { query: within, signal, key, outside }));
      if (tool.effect === "read") return work(query);
      if (key === undefined) return transaction(work);
      const keyed = {
        userId: caller.userId,
        key,
        argumentsHash: hashOf([name, normaliseArguments(text), ...(onList === "" ? [] : [onList])]),
      };
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

/** The list that a `user_id` names; "": the caller's own. Undefined: it can be nobody's name. */
export function listOf(caller: Caller, user: unknown): string | undefined {
  if (user === undefined || user === caller.userId || user === caller.name) return "";
  if (typeof user !== "string" || user.length > longestName) return undefined;
  return plainText(user).trim() || undefined;
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
