import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { type ItemOf, textOf } from "../../src/protocol/threads/items.ts";
import type { PlannedWrite } from "../../src/protocol/agents/tools.ts";
import { choiceFromPlan } from "./plan.ts";

export type WriteState = "open" | "running" | "done" | "failed" | "unknown";
export type CreatedWork = { readonly ref: number; readonly subject: string; readonly url: string };
export type WriteLine = {
  readonly state: WriteState;
  readonly startedAt?: string;
  /** Why it failed. */
  readonly reason?: string;
  readonly made?: CreatedWork;
};

/** What a page shows of a run that plans, asks and writes. */
export type RunState = {
  /** Of its last work. */
  readonly startedAt: string | undefined;
  /** What was read, in words of the tools. */
  readonly reads: readonly { readonly key: string; readonly tool: string; readonly isDone: boolean }[];
  /** What the agent says, as it comes. */
  readonly text: string;
  readonly planned: readonly PlannedWrite[];
  /** Undefined until it was decided; empty: nothing shall be done. */
  readonly chosen: readonly PlannedWrite[] | undefined;
  readonly lines: Readonly<Record<string, WriteLine>>;
  readonly questions: readonly ItemOf<"question">[];
  readonly warnings: readonly string[];
  readonly end:
    | {
        readonly status: "done" | "failed" | "cancelled";
        readonly error?: { readonly code: string; readonly message: string };
      }
    | undefined;
};

export const beginning: RunState = {
  startedAt: undefined,
  reads: [],
  text: "",
  planned: [],
  chosen: undefined,
  lines: {},
  questions: [],
  warnings: [],
  end: undefined,
};

export function isAboutPlan({ step, body }: ItemOf<"question">): boolean {
  return body.reason === "question" && step?.startsWith("plan:") === true;
}

export function afterEvent(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case "run-start":
    case "step-start":
      return { ...state, startedAt: state.startedAt ?? new Date().toISOString() };
    case "text-delta":
      return { ...state, text: state.text.slice(0, event.offset) + event.text };
    case "message":
      return event.item.body.role === "assistant" ? { ...state, text: textOf(event.item.body.content) } : state;
    case "call-start":
      return begun(state, event.item);
    case "call-end":
      return ended(state, event.item);
    case "question": {
      const { item } = event;
      const asked = { ...state, questions: [...state.questions, item] };
      return item.body.reason === "unknown" ? withLine(asked, item.step, { state: "unknown" }) : asked;
    }
    case "decision":
      return decided(state, event.item);
    case "notice":
      return { ...state, warnings: [...state.warnings, event.item.body.text] };
    case "run-end":
      return {
        ...state,
        questions: [],
        end: { status: event.status, ...(event.error && { error: event.error }) },
      };
    default:
      return state;
  }
}

function begun(state: RunState, { step, index, body, createdAt }: ItemOf<"call">): RunState {
  if (writeAt(step) !== undefined) return withLine(state, step, { state: "running", startedAt: createdAt });
  return { ...state, reads: [...state.reads, { key: `${step}/${index}`, tool: body.name, isDone: false }] };
}

function ended(state: RunState, { step, index, body }: ItemOf<"result">): RunState {
  const data = body.data as { readonly planned?: PlannedWrite; readonly artifact?: CreatedWork } | undefined;
  if (writeAt(step) !== undefined) {
    const artifact = data?.artifact;
    if (!body.isError) return withLine(state, step, { state: "done", ...(artifact && { made: artifact }) });
    const isUnknown = body.outcome === "unknown" || body.outcome === "interrupted";
    return withLine(state, step, { state: isUnknown ? "unknown" : "failed", reason: body.content });
  }
  const key = `${step}/${index}`;
  // A write that is only planned is shown in the plan.
  if (data?.planned)
    return {
      ...state,
      planned: [...state.planned, data.planned],
      reads: state.reads.filter((read) => read.key !== key),
    };
  return { ...state, reads: state.reads.map((read) => (read.key === key ? { ...read, isDone: true } : read)) };
}

function decided(state: RunState, { body }: ItemOf<"decision">): RunState {
  const question = state.questions.find(({ id }) => id === body.question);
  const questions = state.questions.filter(({ id }) => id !== body.question);
  if (!question || !isAboutPlan(question)) return { ...state, questions };
  const isAllowed = body.decision === "answer" && body.text === question.body.choices?.[0];
  return { ...state, questions, chosen: isAllowed ? choiceFromPlan(state.planned, body.arguments) : [] };
}

/** The write that is done at a step. */
function writeAt(step: string | null): string | undefined {
  return step?.startsWith("do:") ? step.slice("do:".length) : undefined;
}

function withLine(state: RunState, step: string | null, line: WriteLine): RunState {
  const id = writeAt(step);
  return id === undefined ? state : { ...state, lines: { ...state.lines, [id]: line } };
}
