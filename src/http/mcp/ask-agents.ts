import { z } from "zod";
import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { isId } from "../../protocol/base/ids.ts";
import { faultLine, schemaFaults } from "../../protocol/base/schema-faults.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { Services } from "../server/services.ts";
import { followCall, runResultTool } from "./follow-call.ts";
import { mcpResult } from "./mcp-result.ts";
import { errorsAsResult, idempotencyOf } from "./registry-tools.ts";
import type { McpTool } from "./server-features.ts";

const askSchema = z.strictObject({
  message: z.string().min(1).describe("What to say to the agent"),
  thread: z.string().optional().describe("Go on with this conversation: the thread of an earlier answer"),
});
const runSchema = z.strictObject({ run: z.string().describe("The id of a run") });

const answerSchema = {
  type: "object" as const,
  properties: {
    answer: { type: "string" },
    run: { type: "string", description: "The run that made the answer" },
    thread: { type: "string", description: "Goes on with the conversation" },
  },
  required: ["answer", "run", "thread"],
};

/** Each agent as a tool `ask_<agent>`. `within`: the header of a request that a run of ours sent. */
export function askAgents(services: Services, caller: Caller, within: { readonly within?: string }): McpTool[] {
  return services.agents.list().map((agent) => ({
    definition: {
      name: askToolOf(agent),
      title: `Ask ${agent.id}`,
      description: `Asks the agent ${agent.id}${agent.description ? `: ${agent.description}` : ""}.`,
      inputSchema: inputSchemaOf(askSchema),
      outputSchema: answerSchema,
      annotations: { readOnlyHint: false, openWorldHint: true },
    },
    call: (call) =>
      errorsAsResult(async () => {
        const { message, thread } = parse(askSchema, call.arguments);
        if (thread !== undefined && !isId(thread)) throw new InvalidInput("thread must be the id of a thread.");
        return followCall({
          services,
          caller,
          call,
          start: () =>
            services.runs.start(caller, {
              agent: agent.id,
              ...(thread !== undefined && { threadId: thread }),
              message: { content: message },
              // A client that waits for its answer is better told at once than put behind another run.
              mode: "reject",
              ...idempotencyOf(call, askToolOf(agent)),
              ...within,
            }),
          answer: ({ answer }, { runId, threadId }) =>
            mcpResult({ content: answer, data: { answer, run: runId, thread: threadId } }),
        });
      }),
  }));
}

/** How a run came out that outlived its call: it waited for a person, or the connection broke. */
export function runResult(services: Services, caller: Caller): McpTool {
  return {
    definition: {
      name: runResultTool,
      title: "Result of a run",
      description: "Tells how a run came out whose call ended before it did, and waits for it while it still works.",
      inputSchema: inputSchemaOf(runSchema),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    call: (call) =>
      errorsAsResult(async () => {
        const { run: runId } = parse(runSchema, call.arguments);
        const { threadId, agent } = await services.runs.get(caller, runId);
        const { first, resumedAt } = await services.runs.placeOf(caller, runId);
        const cursor = { seq: first - 1, live: [] };
        const isToolCall = agent.startsWith("tool:");
        return followCall({
          services,
          caller,
          // Who only looks doesn't stop the run by looking away.
          call: { ...call, cancelled: new AbortController().signal },
          start: async () => ({
            ...{ runId, threadId, cursor, pending: false, replayed: true },
            ...(resumedAt !== undefined && { resumedAt }),
          }),
          answer: ({ answer, result }) =>
            isToolCall && result
              ? mcpResult(result.body)
              : mcpResult({ content: answer, data: { answer, run: runId, thread: threadId } }),
        });
      }),
  };
}

export function askToolOf({ id }: Pick<AgentDefinition, "id">): string {
  return `ask_${id}`;
}

function inputSchemaOf(schema: z.ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest as { type: "object" };
}

function parse<Schema extends z.ZodType>(schema: Schema, values: unknown): z.output<Schema> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw new InvalidInput(faultLine(schemaFaults(parsed.error), "arguments"), { code: "invalid_arguments" });
}
