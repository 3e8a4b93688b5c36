import { z } from "zod";
import type { ToolAnswer, ToolQuestion, ToolResult } from "../../protocol/agents/tools.ts";
import { errorResult } from "../core/tool-result.ts";

/** A server's answer that is none yet: it must know more from a person, and is then called again. */
const inputRequiredSchema = z.object({
  resultType: z.literal("input_required"),
  inputRequests: z.record(z.string(), z.object({ method: z.string(), params: z.unknown() })).default({}),
  requestState: z.string().optional(),
});
/** What a server wants to know; another mode than a form is not understood. */
export const formSchema = z.object({
  mode: z.literal("form").default("form"),
  message: z.string(),
  requestedSchema: z.record(z.string(), z.unknown()),
});
/** What is kept while a person is asked: one question after the other. */
const stateSchema = z.object({
  requestState: z.string().optional(),
  asked: z.string(),
  open: z.array(z.object({ key: z.string(), message: z.string(), schema: z.record(z.string(), z.unknown()) })),
  responses: z.record(z.string(), z.unknown()),
});
type ElicitationState = z.infer<typeof stateSchema>;

export const longestText = 4000;

/** What must go along with a call since people answered, or whom else they must be asked first. */
export type ElicitationStep = { readonly params: Readonly<Record<string, unknown>> } | { readonly ask: ToolQuestion };

const nothing: ElicitationStep = { params: {} };

export function resumeElicitation(answers: readonly ToolAnswer[]): ElicitationStep {
  const last = answers.at(-1);
  if (!last) return nothing;
  const state = stateSchema.safeParse(last.state);
  if (!state.success) return nothing;
  const { asked, open, requestState } = state.data;
  const response = last.decision === "answer" ? { action: "accept", content: last.data ?? {} } : { action: "decline" };
  const responses = { ...state.data.responses, [asked]: response };
  if (open.length > 0) return { ask: questionOf({ open, responses, requestState }) };
  return { params: { inputResponses: responses, ...(requestState === undefined ? {} : { requestState }) } };
}

/** A question for a person, if that is what the answer asks for; an error if it asks for what can't be given. */
export function questionIn(answer: unknown): ToolResult | undefined {
  const isOther = typeof answer !== "object" || answer === null || !("resultType" in answer);
  if (isOther || answer.resultType !== "input_required") return undefined;
  const parsed = inputRequiredSchema.safeParse(answer);
  if (!parsed.success) return errorResult("The tool asks for something, but not in a form that can be understood.");
  const { inputRequests, requestState } = parsed.data;
  const open: ElicitationState["open"] = [];
  for (const [key, { method, params }] of Object.entries(inputRequests)) {
    const form = formSchema.safeParse(params);
    if (method !== "elicitation/create" || !form.success)
      return errorResult(`The tool asks for ${method}, which is not supported here. Nothing was done.`);
    open.push({ key, message: form.data.message, schema: form.data.requestedSchema });
  }
  if (open.length === 0) return errorResult("The tool asks to be called again without saying what it needs.");
  const ask = questionOf({ open, responses: {}, requestState });
  return { content: ask.text, ask };
}

function questionOf({ open, ...kept }: Pick<ElicitationState, "open" | "responses" | "requestState">): ToolQuestion {
  const [{ key, message, schema }, ...rest] = open as [ElicitationState["open"][number], ...ElicitationState["open"]];
  return {
    text: message.slice(0, longestText),
    schema,
    state: { ...kept, asked: key, open: rest } satisfies ElicitationState,
  };
}
