import { z } from "zod";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import { type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import type { FinishReason } from "../../../protocol/agents/models.ts";
import { isNested } from "../../../run/log/fold.ts";
import { shownName } from "../../../tools/taiga/tool-names.ts";
import { publicQuestion } from "../../shapes/question-view.ts";
import { outageOf } from "../../stream/run-errors.ts";
import { artifactSchema, type AgentRunAnswer, plannedSchema } from "./schemas.ts";

/** Collects a run's events into the answer of this dialect. */
export type OutcomeReader = {
  /** True: nothing more comes until somebody answers, or at all. */
  read(events: readonly RunEvent[]): boolean;
  answer(): AgentRunAnswer;
};

const maxWarnings = 50;
/** Texts for unfinished answers, by finish reason. */
const unfinishedAnswers: Readonly<Record<string, string>> = {
  filter: "The model refused to continue.",
  length: "The model's answer was cut off at its length limit.",
} satisfies Partial<Record<FinishReason, string>>;
const dataSchema = z.looseObject({ artifact: artifactSchema.optional(), planned: plannedSchema.optional() });

export function createOutcomeReader(runId: string, isWrite: (tool: string) => boolean): OutcomeReader {
  let text = "";
  let end: Extract<RunEvent, { type: "run-end" }> | undefined;
  let wait: Extract<RunEvent, { type: "run-wait" }> | undefined;
  const artifacts: z.infer<typeof artifactSchema>[] = [];
  const planned: z.infer<typeof plannedSchema>[] = [];
  const warnings: string[] = [];
  const questions = new Map<string, ItemOf<"question">>();
  const calls = new Map<string, string>();
  const usage = { input_tokens: 0, output_tokens: 0, steps: 0, tool_calls: 0, writes: 0 };

  function addMessage({ body, ...item }: ItemOf<"message">): void {
    if (body.role !== "assistant") return;
    usage.steps++;
    usage.input_tokens += body.usage?.inputTokens ?? 0;
    usage.output_tokens += body.usage?.outputTokens ?? 0;
    if (isNested({ ...item, body })) return;
    text = textOf(body.content) || text;
    const unfinished = unfinishedAnswers[body.finish ?? ""];
    if (unfinished !== undefined) warnings.push(unfinished);
  }

  function addResult({ step, index, body }: ItemOf<"result">): void {
    const tool = calls.get(`${step}/${index}`) ?? "";
    // What the same call had done before, and what no limit left room for.
    if (body.outcome === "not-run" && isWrite(tool)) usage.writes--;
    const data = dataSchema.safeParse(body.data).data;
    if (data?.artifact) artifacts.push(data.artifact);
    if (data?.planned) planned.push({ ...data.planned, tool: shownName(data.planned.tool) });
    // What a model may mend is its own business; a write that was not done is the caller's too.
    if (body.isError && isWrite(tool)) warnings.push(`${shownName(tool)}: ${body.content.slice(0, 500)}`);
  }

  function read(event: RunEvent): void {
    if (["message", "call-start", "call-end"].includes(event.type)) wait = undefined;
    switch (event.type) {
      case "message":
        return addMessage(event.item);
      case "call-start":
        calls.set(`${event.item.step}/${event.item.index}`, event.item.body.name);
        usage.tool_calls++;
        if (isWrite(event.item.body.name)) usage.writes++;
        return;
      case "call-end":
        return addResult(event.item);
      case "notice":
        warnings.push(event.item.body.text);
        return;
      case "question":
        questions.set(event.item.id, event.item);
        return;
      case "decision":
        questions.delete(event.item.body.question);
        if (questions.size === 0) wait = undefined;
        return;
      case "run-wait":
        wait = event;
        return;
      case "run-end":
        end = event;
    }
  }

  return {
    read(events) {
      for (const event of events) read(event);
      const last = events.at(-1)?.type;
      return last === "run-end" || last === "run-wait";
    },
    answer() {
      const error = end?.error;
      const stopReason = end ? reasonOf(end) : wait ? "waiting" : "running";
      const stopped = error ? [`Stopped before its end: ${error.message}`] : [];
      return {
        summary:
          end?.status === "done" && text !== ""
            ? text
            : [text, ...stopped, sumUp(artifacts)].filter(Boolean).join("\n\n"),
        artifacts,
        warnings: [...stopped, ...warnings.slice(0, maxWarnings)],
        usage,
        run_id: runId,
        stop_reason: stopReason,
        ...(planned.length > 0 ? { planned } : {}),
        ...(wait && !end ? { questions: [...questions.values()].map(publicQuestion) } : {}),
        ...(error && stopReason !== "limit" ? { error } : {}),
        ...(wait && !end && wait.reason === "provider" ? { error: outageOf(wait) } : {}),
      };
    },
  };
}

function reasonOf({ status, error }: Extract<RunEvent, { type: "run-end" }>): AgentRunAnswer["stop_reason"] {
  if (status === "done") return "end";
  return error?.code.startsWith("limit_") ? "limit" : status;
}

/** In place of a summary that the model did not come to write. */
function sumUp(artifacts: AgentRunAnswer["artifacts"]): string {
  if (artifacts.length === 0) return "";
  return artifacts
    .map(({ action, type, ref, subject }) => `${action} ${type.replace("_", " ")} #${ref}: ${subject}`)
    .join("\n");
}
