import { z } from "zod";
import { questionSchema, runErrorSchema } from "../../../protocol/threads/run-shapes.ts";
import { limitsSchema } from "../../../protocol/agents/agents.ts";
import { eventSchema } from "../../shapes/event-schema.ts";
import { idSchema, type Shape } from "../../../protocol/base/shapes.ts";

/** The agent that does the work. */
export const agentId = "taiga";

export const tokenHeaders =
  "Your Taiga token comes in the header `X-Taiga-Token` (of a login, or `Application <token>`), and optionally what renews it " +
  "in `X-Taiga-Refresh`; it is kept sealed until the run has ended. Without it an administrator works with the operator's login.";

export const requestSchema = z.strictObject({
  project_ref: z.string().min(1).max(500).describe("The project's slug or number"),
  sprint_ref: z.string().min(1).max(500).optional().describe('The sprint by its name, such as "Sprint 6"'),
  prompt: z.string().min(1).max(200_000).describe("The task, including the minutes"),
  session_id: z.string().min(1).max(255).optional().describe("The thread to continue; also x-session-id"),
  dry_run: z.boolean().default(false).describe("Plans the writes, waits for approval, then does exactly those"),
  stream: z.boolean().default(false).describe("Streams server-sent events; the last one, `done`, is the answer"),
  background: z.boolean().default(false).describe("Answers at once, with the run's id"),
  callback: z.string().optional().describe("Name of a configured webhook to notify when the run ends or waits"),
  limits: limitsSchema.partial().optional().describe("Less than the agent's own; never more"),
});
export type AgentRunRequest = z.output<typeof requestSchema>;

export const artifactSchema = z.looseObject({
  type: z.string().describe("user_story, task"),
  action: z.enum(["created", "updated", "deleted"]),
  tool: z.string().describe("Such as taiga.create_task"),
  id: z.int(),
  ref: z.int(),
  subject: z.string(),
  url: z.string(),
});

const stopReasons = ["end", "limit", "waiting", "running", "failed", "cancelled"] as const;

export const plannedSchema = z.object({
  id: z.string().describe("Such as new:1; later writes may name it"),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

export const answerSchema = z.object({
  summary: z.string(),
  artifacts: z.array(artifactSchema),
  warnings: z.array(z.string()),
  usage: z.object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    steps: z.int(),
    tool_calls: z.int(),
    writes: z.int(),
  }),
  run_id: idSchema,
  stop_reason: z.enum(stopReasons),
  planned: z.array(plannedSchema).optional().describe("For a dry run: the planned writes"),
  questions: z.array(questionSchema).optional().describe("For a waiting run: the questions to answer"),
  error: runErrorSchema.optional(),
});
export type AgentRunAnswer = Shape<typeof answerSchema>;

/** What a stream tells of a run. */
export const eventsSchema = z.union([
  eventSchema(z.object({ run_id: idSchema }), "run"),
  eventSchema(z.object({ step: z.string(), text: z.string() }), "text"),
  eventSchema(z.object({ step: z.string() }).describe("The streamed text of this step is withdrawn"), "retry"),
  eventSchema(z.object({ tool: z.string(), arguments: z.string() }), "call"),
  eventSchema(z.object({ tool: z.string(), content: z.string(), is_error: z.boolean() }), "result"),
  eventSchema(questionSchema, "question"),
  eventSchema(answerSchema, "done"),
  eventSchema(z.object({ run_id: idSchema, message: z.string() }), "error"),
]);
