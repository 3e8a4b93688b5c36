import { z } from "zod";
import type { Content, ContentPart } from "./items.ts";

const contentPartSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("image"), url: z.string() }),
]) satisfies z.ZodType<ContentPart>;

/** What may come from outside as the content of a message. */
export const contentSchema = z.union([z.string(), z.array(contentPartSchema).min(1)]) satisfies z.ZodType<Content>;
