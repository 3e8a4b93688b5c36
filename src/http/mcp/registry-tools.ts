import type { Tool as McpToolDefinition } from "@modelcontextprotocol/server";
import type { Caller } from "../../protocol/base/callers.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { idempotencyOfKey } from "../requests/run-headers.ts";
import type { Services } from "../server/services.ts";
import { followCall } from "./follow-call.ts";
import { mcpError, mcpResult } from "./mcp-result.ts";
import type { McpCall, McpTool } from "./server-features.ts";

/** The tools that the caller may use. Each call is a run of its own, as over the tools API: rights, approval, limits, ledger. */
export async function registryTools(services: Services, caller: Caller): Promise<readonly McpTool[]> {
  await services.tools.prepare(["*"], caller);
  return services.tools.select(["*"], caller).map((tool) => ({
    definition: definitionOf(tool),
    call: (call) =>
      errorsAsResult(() => {
        const text = JSON.stringify(call.arguments);
        return followCall({
          services,
          caller,
          call,
          start: () =>
            services.runs.callTool(caller, {
              tool: tool.name,
              arguments: text,
              ...idempotencyOf(call, tool.name),
            }),
          answer: ({ result, end }) =>
            result ? mcpResult(result.body) : mcpError(`The run ${end.run} ended without a result.`),
        });
      }),
  }));
}

/** The key of a call, if it has one, with all that it asks for. */
export function idempotencyOf({ idempotencyKey, arguments: given }: McpCall, name: string) {
  return idempotencyKey === undefined ? {} : { idempotency: idempotencyOfKey(idempotencyKey, ["mcp", name, given]) };
}

export function definitionOf({ name, description, parameters, ...tool }: Tool): McpToolDefinition {
  return {
    name,
    description,
    inputSchema: parameters as JsonSchema & { type: "object" },
    annotations: {
      readOnlyHint: tool.effect === "read",
      destructiveHint: tool.effect === "write" && tool.destructive,
      idempotentHint: tool.effect === "read" || tool.idempotent,
      // Of any other tool nobody has said whether it does.
      ...(tool.scope === "local" && { openWorldHint: false }),
      ...((tool.bringsIn || tool.sendsOut) && { openWorldHint: true }),
    },
  };
}

/** Returns errors that a model can react to (wrong arguments, a limit, a busy thread) as results; internal errors are thrown. */
export async function errorsAsResult<Value>(body: () => Promise<Value>): Promise<Value | ReturnType<typeof mcpError>> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof ColloquyError && error.status !== 500) return mcpError(error.message);
    throw error;
  }
}
