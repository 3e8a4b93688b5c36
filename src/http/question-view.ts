import { z } from "zod";
import { decisions, type ItemOf } from "../protocol/items.ts";
import { idSchema } from "../protocol/shapes.ts";

/** An open question with all that is needed to answer it. */
export const questionSchema = z.object({
  id: idSchema,
  runId: idSchema,
  threadId: idSchema,
  reason: z.enum(["approval", "limit", "unknown", "question"]),
  text: z.string(),
  tool: z.string().optional(),
  arguments: z.string().optional().describe("JSON text"),
  argumentsHash: z.string().optional().describe("Sent back with a decision, it binds it to these arguments"),
  outside: z
    .array(z.string())
    .optional()
    .describe("Tools (or files, or @people) that brought in text of others, which may be what asks for the call"),
  choices: z.array(z.string()).optional().describe("Of a question: one of these is the answer"),
  schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Of a question: the form, to be filled in as arguments"),
  limit: z.string().optional().describe("Which limit was reached"),
  decisions: z.array(z.string()).describe("What may be decided"),
  createdAt: z.string().describe("ISO 8601"),
});
export type QuestionView = z.infer<typeof questionSchema>;

export function publicQuestion({ id, runId, threadId, body, createdAt }: ItemOf<"question">): QuestionView {
  const { state: _state, choices, outside, ...shown } = body;
  return {
    id,
    runId: runId!,
    threadId,
    ...shown,
    ...(choices ? { choices: [...choices] } : {}),
    ...(outside ? { outside: [...outside] } : {}),
    ...(body.arguments === undefined ? {} : { arguments: plainArguments(body.arguments) }),
    decisions: [...decisions[body.reason]],
    createdAt,
  };
}

/**
 * The same arguments as the tool will read them, so that nobody allows what they could not see: a key given twice counts
 * once, nothing hides behind blanks, and letters that don't show or turn the text around are written as \u….
 */
export function plainArguments(text: string): string {
  return compact(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) =>
    letter
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
