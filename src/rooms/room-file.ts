import { z } from "zod";
import { agentSchema, limitsSchema, modelSettingsSchema } from "../protocol/agents/agents.ts";
import { roomGuardsSchema, turnOrders, wakeSchema, activations } from "../protocol/agents/rooms.ts";

const id = z
  .string()
  .transform((text) => text.replace(/^@/, ""))
  .pipe(agentSchema.shape.id);

/** What a room may say of an agent of this server, or of one of its own; what it does not say is the agent's. */
const about = z.strictObject({
  description: z.string().optional(),
  model: z.string().min(1).optional(),
  /** An OpenAI-compatible server that has the model; whatever stands behind it joins in. */
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  key: z.string().min(1).optional(),
  prompt: z.string().optional(),
  activation: z.enum(activations).optional(),
  tools: z.array(z.string()).optional(),
  temperature: z.number().min(0).max(2).optional(),
  settings: modelSettingsSchema.optional(),
  limits: limitsSchema.partial().optional(),
  mayInterrupt: z.boolean().optional(),
  introduce: z.boolean().optional(),
  wake: wakeSchema.optional(),
});
type RoomFrontMatter = z.infer<typeof about>;

/** `agent`: one of this server. `id`: one of the room's own. */
export type MemberEntry = RoomFrontMatter &
  ({ readonly agent: string; readonly id?: undefined } | { readonly id: string; readonly agent?: undefined });

/** The name of an agent, what differs for one, or one of the room's own. */
const memberSchema = z.union([
  id.transform((agent): MemberEntry => ({ agent })),
  about.extend({ agent: id }).transform((entry): MemberEntry => entry),
  about.extend({ id }).transform((entry): MemberEntry => entry),
]);

/** `rooms/<id>.yaml`. */
export const roomFileSchema = z.strictObject({
  id: agentSchema.shape.id.refine((text) => text !== "kinds", "is a name of ours"),
  title: z.string().max(200).optional(),
  description: z.string().default(""),
  members: z.array(memberSchema).min(1).max(32),
  workspace: z.string().min(1).optional(),
  turns: z.enum(turnOrders).default("sequential"),
  tools: z.array(z.string()).default(["*"]),
  guards: roomGuardsSchema.prefault({}),
  limits: limitsSchema.partial().default({}),
  messages: z.int().positive().max(1000).default(50),
  private: z.boolean().default(false),
  people: z.enum(["invited", "everybody"]).default("invited"),
});
export type RoomFile = z.infer<typeof roomFileSchema>;
