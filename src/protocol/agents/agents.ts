import { z } from "zod";
import type { Shape } from "../base/shapes.ts";
import { approvalSchema } from "./approval.ts";
import { activations, type RoomGuards, type turnOrders, type WakeRule } from "./rooms.ts";
import { sandboxGradeSchema } from "./sandboxes.ts";

/** What one run tree may spend. Reserved before the work. */
export const limitsSchema = z.strictObject({
  deadlineSeconds: z.number().positive(),
  steps: z.int().positive(),
  toolCalls: z.int().positive(),
  writes: z.int().nonnegative(),
  /** How often the same call may bring the same result with nothing changed between; 0 = any number. */
  repeatedCall: z.int().nonnegative(),
  tokens: z.int().positive().optional(),
  /** Money, in the unit of `prices`. */
  cost: z.number().positive().optional(),
  onLimit: z.enum(["stop", "pause"]),
});
export type Limits = z.infer<typeof limitsSchema>;

export const defaultLimits: Limits = {
  deadlineSeconds: 600,
  steps: 25,
  toolCalls: 100,
  writes: 50,
  repeatedCall: 2,
  onLimit: "pause",
};

/** What an outage of a model's provider is to a run: something to wait for, or its end. */
export const onOutageSchema = z.enum(["wait", "fail"]);
export type OnOutage = z.infer<typeof onOutageSchema>;

export const modelSettingsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.int().positive().optional(),
  maxTokens: z.int().positive().optional(),
  stop: z.array(z.string()).max(100).optional(),
  seed: z.int().optional(),
  frequencyPenalty: z.number().optional(),
  presencePenalty: z.number().optional(),
  reasoningEffort: z.string().optional(),
  parallelCalls: z.boolean().optional(),
});

/** The front matter of an agent's Markdown file, and its text as `instructions`. */
export const agentSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "lower-case letters, digits, - and _; at most 64"),
  description: z.string().default(""),
  model: z.string().default("default"),
  strategy: z.string().default("tools"),
  instructions: z.string().default(""),
  /** Names or globs (`*`, `task_*`) of the tools it may use. */
  tools: z.array(z.string()).default([]),
  /** Ids or globs of the agents it may hand work to. */
  agents: z.array(z.string()).default([]),
  activation: z.enum(activations).default("mention"),
  limits: limitsSchema.partial().default({}),
  settings: modelSettingsSchema.default({}),
  /** Tokens of prompt and answer together, if it is to use less than its model holds. */
  contextTokens: z.int().positive().optional(),
  approval: approvalSchema.default({}),
  /**
   * Of a write of which nobody knows whether it was done: a person is asked (when absent), or the model is told, and goes on.
   */
  onUnknown: z.enum(["ask", "tell-model"]).optional(),
  /**
   * What its commands must run in at least, else they are refused. `none`: whatever the operator has set up; what holds
   * little is asked about.
   */
  sandbox: sandboxGradeSchema.default("none"),
  /** Absent: a run waits, unless whoever began it holds the connection and has nothing to come back to. */
  onOutage: onOutageSchema.optional(),
});
export type AgentDefinition = Readonly<z.infer<typeof agentSchema>> & {
  /** It is a room: its members work, and it leads them. */
  readonly room?: RoomSpec;
};

export type RoomMember = {
  readonly agent: AgentDefinition;
  /** It is shown what others are about to do, and may stop them with a message. */
  readonly mayInterrupt: boolean;
  /** It is told of the room and its members besides its instructions. */
  readonly introduce: boolean;
  readonly wake?: WakeRule;
};

/** Who works in a room, and how; a run keeps it from its start. */
export type RoomSpec = {
  readonly title: string;
  readonly members: readonly RoomMember[];
  readonly turns: (typeof turnOrders)[number];
  /** Names or globs of the tools that may be used in it; an agent's own must allow them too. */
  readonly tools: readonly string[];
  readonly guards: RoomGuards;
  /** How many messages an agent is told. */
  readonly messages: number;
  /** Members may say things that only some hear. */
  readonly private: boolean;
  /** The folder that its workspace begins with. */
  readonly workspace?: string;
  /** Who may come in: those whom the owner lets in, or everybody with an account. */
  readonly people: "invited" | "everybody";
};

/** All agents by id. `get` throws NotFound with the known ids. */
export type AgentRegistry = {
  get(id: string): AgentDefinition;
  has(id: string): boolean;
  list(): readonly AgentDefinition[];
  /** Who answers where nobody is named, if that has been said. */
  defaultId?(): string | undefined;
};

/** An agent as whoever may use it sees it. */
export const listedAgentSchema = z.object({
  id: z.string(),
  description: z.string(),
  model: z.string(),
  strategy: z.string(),
  tools: z.array(z.string()),
  isDefault: z.boolean().describe("Whether this is your default agent: the one of your preferences, else the server's"),
  promptTokens: z
    .int()
    .describe("About how many tokens of each prompt its instructions and tools take, before a word is said"),
  toolTokens: z.int().describe("How many of these describe the tools that are offered"),
  contextTokens: z.int().nullable().describe("Tokens that its model takes in; null if that can't be known"),
});
export type AgentView = Shape<typeof listedAgentSchema>;
