import { type Caller, hasScope } from "../../protocol/base/callers.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { mcpResult } from "./mcp-result.ts";
import { errorsAsResult, definitionOf } from "./registry-tools.ts";
import type { McpSurface, McpTool } from "./server-features.ts";
import { listOf, type TaskCall, type TaskCalls } from "../../tools/basic/task-calls.ts";

const taskSchema = {
  type: "object" as const,
  properties: {
    id: { type: "integer" },
    user_id: { type: "string" },
    title: { type: "string" },
    description: { type: "string" },
    status: { type: "string", enum: ["pending", "completed"] },
    created_at: { type: "string", format: "date-time" },
    updated_at: { type: "string", format: "date-time" },
  },
  required: ["id", "user_id", "title", "description", "status", "created_at"],
};
const outputs: Readonly<Record<string, McpTool["definition"]["outputSchema"]>> = {
  list_tasks: {
    type: "object",
    properties: { tasks: { type: "array", items: taskSchema }, notListed: { type: "integer" } },
    required: ["tasks"],
  },
  delete_task: {
    type: "object",
    properties: { deleted: { type: "boolean" }, task: taskSchema },
    required: ["deleted", "task"],
  },
};

/**
 * The five task tools as an MCP server of their own. Whose tasks they are is the caller, never an argument. `namesLists`: programs of
 * one person name others in it, whose lists are that person's too.
 */
export function todoSurface(
  tasks: TaskCalls,
  caller: Caller,
  { version, namesLists = false }: { readonly version: string } & Pick<TaskCall, "namesLists">,
): McpSurface {
  return {
    info: { name: "colloquy-todo", title: "Colloquy's tasks", version },
    instructions: "The user's own task list. Ids come from list_tasks; a task is never invented.",
    tools: async () =>
      tasks.tools
        .filter(({ effect }) => hasScope(caller, effect === "read" ? "tasks:read" : "tasks:write"))
        .map((tool) => todoTool(tasks, caller, { tool, namesLists })),
  };
}

function todoTool(
  tasks: TaskCalls,
  caller: Caller,
  { tool, namesLists }: { readonly tool: Tool; readonly namesLists: boolean },
): McpTool {
  const definition = definitionOf(tool);
  return {
    definition: {
      ...definition,
      outputSchema: outputs[tool.name] ?? taskSchema,
      annotations: { ...definition.annotations, idempotentHint: tool.name !== "add_task" },
    },
    call: (call) =>
      errorsAsResult(async () => {
        const { arguments: given, idempotencyKey: key, cancelled: signal, outside } = call;
        const result = await tasks.call(caller, {
          tool: tool.name,
          arguments: given,
          signal,
          namesLists,
          ...(key !== undefined && { key }),
          ...(outside && { outside }),
        });
        if (result.isError) return mcpResult(result);
        const data = withUser(result.data, listOf(caller, given["user_id"]) || caller.userId);
        return mcpResult({ ...result, content: JSON.stringify(data), data });
      }),
  };
}

/** Each task says whose it is, wherever it stands in the result. */
function withUser(data: unknown, user: string): unknown {
  if (Array.isArray(data)) return data.map((entry: unknown) => withUser(entry, user));
  if (typeof data !== "object" || data === null) return data;
  const entries = Object.entries(data).map(([key, value]) => [key, withUser(value, user)] as const);
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  if (!("id" in copy)) return copy;
  const { id, ...rest } = copy;
  return { id, user_id: user, ...rest };
}
