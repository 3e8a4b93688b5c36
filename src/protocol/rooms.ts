import { z } from "zod";

/** What stops agents that go on among themselves; a person lifts each with "continue". */
export const roomGuardsSchema = z.strictObject({
  /** Turns of agents that one person's message may lead to. */
  turns: z.int().positive().max(1000).default(30),
  /** Turns in a row that two agents may have between them. */
  pair: z.int().min(2).max(1000).default(12),
  /** How often an agent may say the same in one chain. */
  repeats: z.int().positive().max(1000).default(2),
});
export type RoomGuards = z.infer<typeof roomGuardsSchema>;

/** What decides whether an agent that always listens is woken: words, or a cheap model. */
export const wakeSchema = z.union([
  z.strictObject({ words: z.array(z.string().min(1)).min(1).max(100) }),
  z.strictObject({ model: z.string().min(1), question: z.string().min(1) }),
]);
export type WakeRule = z.infer<typeof wakeSchema>;

export const turnOrders = ["sequential", "parallel"] as const;

/** How an agent says that it has nothing to say. */
export const passText = "[pass]";

/** How a person lifts what stopped a chain. */
export const continueText = "continue";
