import type { ModelCall } from "../../../protocol/agents/models.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { canonicalJson, parseExactly } from "../../../protocol/base/exact-json.ts";
import { callIdOf, type Item, itemIdOfCall, type ItemOf, textOf } from "../../../protocol/threads/items.ts";
import type { AnswerMessage, AnswerRequest } from "../../answers/answer-request.ts";
import type { EndpointCall } from "../../server/endpoint.ts";

/** Runs that are looked at, the newest first, and items of each. */
const mostRuns = 50;
const mostItems = 200;

/**
 * Gives the results of an agent's calls the ids that its run waits for. Many of Ollama's clients keep no ids, or make their own:
 * the run is the one of the caller's that waits for the same calls after the same question. Throws InvalidInput if there is none,
 * or more than one.
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
  const found: (readonly string[])[] = [];
  for (const items of await waitingBranches(call, asked.model)) {
    const ids = isAfter(items, question) ? matchCalls(openCalls(items), calls) : undefined;
    if (ids) found.push(ids);
  }
  const [ids] = found;
  if (ids === undefined || found.length > 1) throw unclear(calls, found.length);
  const idOf = new Map(calls.map(({ id }, index) => [id, ids[index]!]));
  const renamed = tail.map((message) =>
    message.role === "tool" ? { ...message, callId: idOf.get(message.callId) ?? message.callId } : message,
  );
  return { ...asked, messages: [...messages.slice(0, last + 1), ...renamed] };
}

async function waitingBranches(
  { caller, services }: EndpointCall,
  agent: string,
): Promise<readonly (readonly Item[])[]> {
  const { runs, threads } = services;
  const waiting = await runs.list(caller, { agent, status: "waiting", isRoot: true, limit: mostRuns });
  const forClient = waiting.filter(({ waitReason }) => waitReason === "client");
  return Promise.all(forClient.map(({ threadId }) => threads.listBranch(caller, threadId, { most: mostItems })));
}

function isAfter(items: readonly Item[], question: AnswerMessage | undefined): boolean {
  const last = items.findLast(
    (item): item is ItemOf<"message"> => item.kind === "message" && item.body.role === "user",
  );
  if (last === undefined || question?.role !== "user") return false;
  const { content } = question;
  return textOf(last.body.content) === textOf(typeof content === "string" ? content : [...content]);
}

function openCalls(items: readonly Item[]): readonly ItemOf<"call">[] {
  const key = ({ step, index }: Item) => `${step}/${index}`;
  const answered = new Set(items.filter(({ kind }) => kind === "result").map(key));
  return items.filter(
    (item): item is ItemOf<"call"> => item.kind === "call" && item.body.target === "client" && !answered.has(key(item)),
  );
}

/** The ids of what is open, in the order of the calls; undefined: it is not the same. */
function matchCalls(open: readonly ItemOf<"call">[], calls: readonly ModelCall[]): readonly string[] | undefined {
  if (open.length !== calls.length) return undefined;
  const left = open.map(({ id, body }) => ({ id, text: textOfCall(body.name, body.arguments) }));
  const ids: string[] = [];
  for (const { name, arguments: written } of calls) {
    const place = left.findIndex(({ text }) => text === textOfCall(name, written));
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
