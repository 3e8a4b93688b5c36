import type { ModelCall } from "../../../protocol/agents/models.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { canonicalJson, parseExactly } from "../../../protocol/base/exact-json.ts";
import type { RunRecord } from "../../../protocol/threads/run-shapes.ts";
import { callIdOf, type Item, itemIdOfCall, type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import type { AnswerMessage, AnswerRequest } from "../../answers/answer-request.ts";
import type { EndpointCall } from "../../server/endpoint.ts";

/** Runs that are looked at, the newest first, and items of each. */
const mostRuns = 50;
const mostItems = 200;

/** A run that ended no longer ago may be the one whose continuation a client asks for again; whenever, if its model failed it. */
const repeatMs = 60_000;

/**
 * Gives the results of an agent's calls the ids that its run waits for. Many of Ollama's clients keep no ids, or make their own:
 * the run is the one of the caller's that waits for the same calls after the same question; or else, for a client that sends its
 * results again, one that has had the same results. Throws InvalidInput if there is none, or more than one.
 */
export async function withCallIds(call: EndpointCall, asked: AnswerRequest): Promise<AnswerRequest> {
  const { messages } = asked;
  const last = messages.findLastIndex((message) => message.role === "assistant");
  const tail = messages.slice(last + 1);
  const isOurs = (message: AnswerMessage) => message.role !== "tool" || itemIdOfCall(message.callId) !== undefined;
  if (tail.every(isOurs) || tail.some((message) => message.role === "user")) return asked;
  const answer = messages[last];
  const calls = (answer?.role === "assistant" && answer.calls) || [];
  const question = messages.slice(0, last).findLast((message) => message.role === "user");
  const contents = new Map(
    tail.flatMap((message) => (message.role === "tool" ? [[message.callId, message.content]] : [])),
  );
  const open = calls.map(({ name, arguments: written }) => textOfCall(name, written));
  const answered = calls.map(({ id }, index) => `${open[index]} ${contents.get(id)}`);

  const idsIn = (branches: readonly (readonly Item[])[], sought: readonly string[], read: typeof openCalls) =>
    branches.flatMap((items) => {
      const ids = isAfter(items, question) ? idsOf(sought, read(items)) : undefined;
      return ids ? [ids] : [];
    });
  let found = idsIn(await waitingBranches(call, asked.model), open, openCalls);
  if (found.length === 0) found = idsIn(await recentBranches(call, asked.model), answered, answeredCalls);
  const [ids] = found;
  if (ids === undefined || found.length > 1) throw unclear(calls, found.length);
  const idOf = new Map(calls.map(({ id }, index) => [id, ids[index]!]));
  const renamed = tail.map((message) =>
    message.role === "tool" ? { ...message, callId: idOf.get(message.callId) ?? message.callId } : message,
  );
  return { ...asked, messages: [...messages.slice(0, last + 1), ...renamed] };
}

async function waitingBranches(call: EndpointCall, agent: string): Promise<readonly (readonly Item[])[]> {
  const { caller, services } = call;
  const waiting = await services.runs.list(caller, { agent, status: "waiting", isRoot: true, limit: mostRuns });
  return branchesOf(
    call,
    waiting.filter(({ waitReason }) => waitReason === "client"),
  );
}

async function recentBranches(call: EndpointCall, agent: string): Promise<readonly (readonly Item[])[]> {
  const { caller, services } = call;
  const runs = await services.runs.list(caller, { agent, isRoot: true, limit: mostRuns });
  const since = Date.now() - repeatMs;
  return branchesOf(
    call,
    runs.filter(
      ({ endedAt, error }) =>
        endedAt === null || Date.parse(endedAt) >= since || error?.code.startsWith("model_") === true,
    ),
  );
}

function branchesOf({ caller, services }: EndpointCall, runs: readonly RunRecord[]) {
  return Promise.all(runs.map(({ threadId }) => services.threads.listBranch(caller, threadId, { most: mostItems })));
}

function isAfter(items: readonly Item[], question: AnswerMessage | undefined): boolean {
  const last = items.findLast(
    (item): item is ItemOf<"message"> => item.kind === "message" && item.body.role === "user",
  );
  if (last === undefined || question?.role !== "user") return false;
  const { content } = question;
  return textOf(last.body.content) === textOf(typeof content === "string" ? content : [...content]);
}

/** A client's call, in words that are the same for the same call. */
type WordedCall = { readonly id: string; readonly text: string };

function openCalls(items: readonly Item[]): readonly WordedCall[] {
  const results = resultsIn(items);
  return clientCalls(items).flatMap((call) => (results.has(placeOf(call)) ? [] : [worded(call)]));
}

/** Those of the last answer that had any, each with its result. */
function answeredCalls(items: readonly Item[]): readonly WordedCall[] {
  const results = resultsIn(items);
  const calls = clientCalls(items);
  const step = calls.at(-1)?.step;
  return calls
    .filter((call) => call.step === step)
    .map((call) => {
      const { id, text } = worded(call);
      return { id, text: `${text} ${results.get(placeOf(call))}` };
    });
}

function clientCalls(items: readonly Item[]): readonly ItemOf<"call">[] {
  return items.filter((item): item is ItemOf<"call"> => item.kind === "call" && item.body.target === "client");
}

function resultsIn(items: readonly Item[]): ReadonlyMap<string, string> {
  return new Map(items.flatMap((item) => (item.kind === "result" ? [[placeOf(item), item.body.content]] : [])));
}

function placeOf({ step, index }: Item): string {
  return `${step}/${index}`;
}

function worded({ id, body }: ItemOf<"call">): WordedCall {
  return { id, text: textOfCall(body.name, body.arguments) };
}

/** The ids of the calls, in the order of what is sought; undefined: they are not the same. */
function idsOf(sought: readonly string[], calls: readonly WordedCall[]): readonly string[] | undefined {
  if (calls.length !== sought.length) return undefined;
  const left = [...calls];
  const ids: string[] = [];
  for (const text of sought) {
    const place = left.findIndex((call) => call.text === text);
    if (place === -1) return undefined;
    ids.push(callIdOf(left.splice(place, 1)[0]!.id));
  }
  return ids;
}

function textOfCall(name: string, written: string): string {
  try {
    return `${name} ${canonicalJson(written.trim() === "" ? {} : parseExactly(written))}`;
  } catch {
    return `${name} ${written}`;
  }
}

function unclear(calls: readonly ModelCall[], count: number): InvalidInput {
  const names = calls.map(({ name }) => name).join(", ");
  const what =
    count === 0
      ? `No run of yours waits for the results of these calls: ${names}.`
      : `Several runs of yours wait for the results of these calls: ${names}.`;
  return new InvalidInput(
    `messages: ${what} Send the ids of the calls with their results (tool_call_id), as they came, or end with a user's message.`,
    { param: "messages" },
  );
}
