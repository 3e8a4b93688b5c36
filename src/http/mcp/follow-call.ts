import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type InputRequest,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import type { Cursor, RunEvent } from "../../protocol/threads/events.ts";
import { type ItemOf, textOf, type Decision, decisions } from "../../protocol/threads/items.ts";
import type { RunStart, RunDecision } from "../../run/runs.ts";
import { followUntil, runTarget } from "../stream/follow-run.ts";
import { runCancelled } from "../stream/run-errors.ts";
import { authorize } from "../server/entry.ts";
import type { Services } from "../server/services.ts";
import { waitingText } from "../stream/waiting-text.ts";
import { mcpError } from "./mcp-result.ts";
import type { McpCall } from "./server-features.ts";
import { plainArguments } from "../shapes/question-view.ts";

type RunPosition = {
  readonly threadId: string;
  readonly runId: string;
  readonly cursor: Cursor;
  readonly resumedAt?: number;
};

/** How a run came out: the last call's result and the last text its agent wrote, as far as there are any. */
export type CallOutcome = {
  readonly result?: ItemOf<"result">;
  readonly answer: string;
  readonly end: Extract<RunEvent, { type: "run-end" }>;
};

export type RunCall = {
  readonly services: Pick<Services, "runs" | "approvals">;
  readonly caller: Caller;
  readonly call: McpCall;
  /** Only at the first round: a call that comes back with answers goes on with its run. */
  readonly start: () => Promise<RunStart>;
  readonly answer: (ended: CallOutcome, started: Pick<RunStart, "runId" | "threadId">) => CallToolResult;
};

/**
 * A call that is a run: started, followed to its end, stopped if the client takes it back. Where the run waits for a person, a
 * client that can ask one is given the questions and comes again with the answers; any other is told how to decide.
 */
export async function followCall(runCall: RunCall): Promise<CallToolResult | InputRequiredResult> {
  const { services, caller, call } = runCall;
  let place = call.state === undefined ? await runCall.start() : await goOn(runCall, call.state);
  const cancel = () => void services.runs.cancel(caller, place.runId).catch(() => {});
  call.cancelled.addEventListener("abort", cancel, { once: true });
  if (call.cancelled.aborted) cancel();
  try {
    for (let mayWait = call.state !== undefined; ; mayWait = true) {
      // It may have gone on already: somebody answered elsewhere.
      if (mayWait && (await services.runs.get(caller, place.runId)).status === "waiting")
        return waiting(call, place, await services.approvals.questions(caller, place.runId));
      const stopped = await untilStop(services, place, call);
      if ("end" in stopped) return endOf(runCall, stopped, place);
      place = { ...place, cursor: { seq: stopped.wait.seq, live: [] } };
    }
  } finally {
    call.cancelled.removeEventListener("abort", cancel);
  }
}

function endOf({ answer }: RunCall, ended: CallOutcome, { runId, threadId }: RunPosition): CallToolResult {
  const { status, error } = ended.end;
  if (status === "done") return answer(ended, { runId, threadId });
  if (status === "cancelled") return mcpError(runCancelled(runId, error).message);
  return mcpError(`Run ${runId} failed: ${error?.message ?? "no reason was recorded"}`);
}

type CallEndOrWait = CallOutcome | { readonly wait: Extract<RunEvent, { type: "run-wait" }> };

async function untilStop(
  services: Pick<Services, "runs" | "approvals">,
  place: RunPosition,
  call: McpCall,
): Promise<CallEndOrWait> {
  let close = () => {};
  try {
    return await new Promise<CallEndOrWait>((resolve, reject) => {
      let answer = "";
      let result: ItemOf<"result"> | undefined;
      const follower = followUntil(
        services.runs,
        { target: runTarget(place), from: place.cursor },
        {
          events(events) {
            for (const event of events) {
              if (event.type === "call-end") result = event.item;
              else if (event.type === "message" && event.item.body.role === "assistant")
                answer = textOf(event.item.body.content);
              const told = activity(event);
              if (told !== undefined) call.progress(told);
            }
            const last = events.at(-1);
            if (last?.type === "run-end") resolve({ end: last, answer, ...(result && { result }) });
            else if (last?.type === "run-wait") resolve({ wait: last });
            return last?.type === "run-end" || last?.type === "run-wait";
          },
          error: reject,
        },
      );
      const leave = () => reject(new Error("The client disconnected; the run continues."));
      call.gone.addEventListener("abort", leave, { once: true });
      if (call.gone.aborted) leave();
      close = () => {
        call.gone.removeEventListener("abort", leave);
        follower.close();
      };
    });
  } finally {
    close();
  }
}

/** Describes an event for a person who waits; undefined: nothing to show. */
function activity(event: RunEvent): string | undefined {
  if (event.type === "progress") return event.text;
  if (event.type === "step-retry" && event.retry) return event.retry.text;
  return event.type === "call-start" && event.item.step !== "0" ? `uses ${event.item.body.name}` : undefined;
}

/** Where the client takes up a run again. It is not secret, and gives no rights: runs are looked up as the caller's own. */
function stateOf({ runId, cursor }: RunPosition): string {
  return JSON.stringify([runId, cursor.seq]);
}

async function goOn({ services, caller, call }: RunCall, state: string): Promise<RunPosition> {
  const match = /^\["([0-9a-f-]{36})",(\d{1,15})\]$/.exec(state);
  if (!match) throw new Conflict("This requestState is not valid.");
  const [, runId = "", seq] = match;
  const { threadId } = await services.runs.get(caller, runId);
  for (const question of await services.approvals.questions(caller, runId)) {
    const input = decisionOf(question, call.answers[question.id]);
    if (!input) continue;
    authorize(caller, "threads:write");
    // Who asked a person elsewhere may have been faster.
    await services.approvals.decide(caller, question.runId!, { questionId: question.id, input }).catch(unlessConflict);
  }
  return { runId, threadId, cursor: { seq: Number(seq), live: [] } };
}

function unlessConflict(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
}

function waiting(
  call: McpCall,
  place: RunPosition,
  questions: readonly ItemOf<"question">[],
): CallToolResult | InputRequiredResult {
  const unanswered = questions.filter(({ id }) => call.answers[id] === undefined);
  if (call.canElicit && unanswered.length > 0)
    return inputRequired({
      inputRequests: Object.fromEntries(unanswered.map((question) => [question.id, elicitation(question)])),
      requestState: stateOf(place),
    });
  const { runId } = place;
  const text = waitingText({ run: runId, questions, reason: "a person" });
  return mcpError(`${text}\nWhat comes of it: the tool ${runResultTool} with {"run": "${runId}"}.`);
}

/** The name of the tool that tells how a run came out. */
export const runResultTool = "run_result";

type QuestionItem = ItemOf<"question">;
type Form = Extract<Parameters<typeof inputRequired.elicit>[0]["requestedSchema"], { readonly properties: object }>;

/** A question of a run as a form for the person at the client. */
function elicitation({ body }: QuestionItem): InputRequest {
  const call = body.tool === undefined ? "" : `\n${body.tool} ${plainArguments(body.arguments ?? "")}`;
  return inputRequired.elicit({ message: `${body.text}${call}`, requestedSchema: formOf(body) });
}

function formOf({ reason, choices, schema }: QuestionItem["body"]): Form {
  if (reason !== "question")
    return {
      type: "object",
      properties: {
        decision: { type: "string", title: "Decision", enum: [...decisions[reason]] },
        text: { type: "string", title: "Reason, or what is known", maxLength: 2000 },
      },
      required: ["decision"],
    };
  // Whoever asks has seen to it that its form is as flat as a person can fill in.
  if (schema) return schema as Form;
  const answer = choices ? { enum: [...choices] } : { maxLength: 10_000 };
  return {
    type: "object",
    properties: { answer: { type: "string", title: "Answer", ...answer } },
    required: ["answer"],
  };
}

/** Returns the decision in a client's answer, which is not trusted; undefined: none, the question stays open. */
function decisionOf({ body }: QuestionItem, answer: unknown): RunDecision | undefined {
  if (typeof answer !== "object" || answer === null || !("action" in answer)) return undefined;
  const { action, content } = answer as { action: unknown; content?: unknown };
  const filled = (typeof content === "object" && content !== null ? content : {}) as Record<string, unknown>;
  const seen = body.argumentsHash === undefined ? {} : { argumentsHash: body.argumentsHash };
  // Declined is a no where there is one: an unknown outcome has none.
  if (action === "decline")
    return body.reason === "unknown" ? undefined : { decision: decisions[body.reason][1], ...seen };
  if (action !== "accept") return undefined;
  if (body.reason === "question") {
    if (body.schema) return { decision: "answer", arguments: JSON.stringify(filled) };
    return typeof filled["answer"] === "string" ? { decision: "answer", text: filled["answer"] } : undefined;
  }
  const possible: readonly Decision[] = decisions[body.reason];
  const decision = possible.find((name) => name === filled["decision"]);
  if (decision === undefined) return undefined;
  return { decision, ...(typeof filled["text"] === "string" && { text: filled["text"] }), ...seen };
}
