import { InvalidInput } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { type MessageContent, itemIdOfCall, type NewItem } from "../../protocol/threads/items.ts";
import type { ModelMessage } from "../../protocol/agents/models.ts";
import type { RunOptions } from "../../protocol/threads/runs.ts";
import type { StartInput } from "../../run/runs.ts";
import { filesIn } from "../../run/log/attached-files.ts";
import { filesOf } from "./attach.ts";
import type { AnswerMessage, AnswerRequest } from "./answer-request.ts";

export type ClientResult = { readonly callId: string; readonly content: string; readonly isError?: true };

/**
 * A request to an agent: results for a waiting run, or a new message. With both the message goes to the run that waits, and
 * `start` is for where none does.
 */
export type AgentRequest = {
  readonly results: readonly ClientResult[];
  readonly start?: StartInput;
};

/** Where the conversation is kept by us: a session of the caller's name, or the run whose answer this one follows. */
export type KeptPlace = Pick<StartInput, "sessionKey"> | Required<Pick<StartInput, "threadId" | "follows">>;

/**
 * Reads a conversation as what is new in it. Of one that is kept by us only what follows the last answer counts; else a hidden
 * thread is made with all of it.
 */
export function readAgentRequest(asked: AnswerRequest, place: KeptPlace | undefined): AgentRequest {
  const spoken = asked.messages.filter((message) => message.role !== "system");
  const tail = spoken.slice(spoken.findLastIndex((message) => message.role === "assistant") + 1);
  const results = tail.filter((message) => message.role === "tool");
  const questions = tail.filter((message) => message.role === "user");
  const isForeign = place === undefined && results.some(({ callId }) => itemIdOfCall(callId) === undefined);
  // Of a client's own conversation that ends with results, the message that they were brought for is asked.
  const last = questions.at(-1) ?? (isForeign ? spoken.findLast((message) => message.role === "user") : undefined);
  if (!last) return { results: ownResults(results) };

  const latest = asked.messages.filter((message) => message.role === "system" && message.saidAs === undefined);
  const system = latest.map(({ content }) => content).join("\n\n");
  const shared = { agent: asked.model, options: optionsOf(asked), ...(system !== "" && { system }) };
  if (place !== undefined) {
    const content = joinContents(questions.map((message) => message.content));
    const files = filesOf(questions);
    const before = toHistory(asked.messages.filter(({ role }) => role === "system"));
    const start: StartInput = { ...shared, ...place, before, message: { content, files }, showQuestions: true };
    return { results: ownResults(results), start };
  }
  const at = asked.messages.lastIndexOf(last);
  const history = toHistory(asked.messages.slice(0, at));
  const rest = asked.messages.slice(at + 1);
  const before = toHistory(rest.filter(({ role }) => role === "system"));
  const message = { content: contentOf(last.content), files: filesOf([last]) };
  const done = toHistory(
    rest.filter(({ role }) => role !== "system"),
    "done",
  );
  const start = { ...shared, hidden: true, history, before, message, ...(done.length > 0 && { done }) };
  return { results: isForeign ? [] : ownResults(results), start };
}

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type UserContent = Extract<ModelMessage, { role: "user" }>["content"];

function ownResults(results: readonly ToolMessage[]): ClientResult[] {
  return results.map(({ callId, content, isError }) => {
    if (itemIdOfCall(callId) === undefined) throw foreignCall(callId);
    return { callId, content, ...(isError && { isError }) };
  });
}

/** A result whose call nobody here made, where the answer can't go on from it. */
export function foreignCall(callId: string): InvalidInput {
  return new InvalidInput(
    `The call ${callId} was not made by this server's agents, so no run waits for its result. End with a user's message.`,
    { param: "messages" },
  );
}

function optionsOf({
  settings,
  instructions,
  format,
  toolChoice,
  tools,
  onLimit,
  toolCalls,
  echo,
}: AnswerRequest): RunOptions {
  return {
    ...(Object.values(settings).some((value) => value !== undefined) && { settings }),
    ...(instructions !== undefined && { instructions }),
    ...(format && { format }),
    ...(toolChoice && { toolChoice }),
    ...(tools && { clientTools: tools }),
    ...((onLimit !== undefined || toolCalls !== undefined) && {
      limits: { ...(onLimit !== undefined && { onLimit }), ...(toolCalls !== undefined && { toolCalls }) },
    }),
    ...(echo && { echo }),
  };
}

/** The client's own record of a conversation as items; calls keep their results, by steps that no other items of the thread have. */
export function toHistory(messages: readonly AnswerMessage[], steps = "history"): NewItem[] {
  const items: NewItem[] = [];
  let answers = 0;
  /** Index of each call in its answer, by the client's id of it. */
  let indexes = new Map<string, number>();
  for (const message of messages) {
    if (message.role === "assistant") {
      const step = `${steps}:${++answers}`;
      const calls = message.calls ?? [];
      indexes = new Map(calls.map((call, index) => [call.id, index]));
      items.push({ id: newId(), kind: "message", step, body: { role: "assistant", content: message.content } });
      for (const [index, { name, arguments: written }] of calls.entries())
        items.push({ id: newId(), kind: "call", step, index, body: { name, arguments: written, target: "client" } });
    } else if (message.role === "tool") {
      const index = indexes.get(message.callId);
      items.push({
        id: newId(),
        kind: "result",
        step: `${steps}:${answers}`,
        index,
        // Nobody here knows where the client's tools have their texts from.
        body: { content: message.content, untrusted: true, ...(message.isError && { isError: true }) },
      });
    } else if (message.role === "user") {
      const body = { role: "user", content: contentOf(message.content), ...filesIn(message) } as const;
      items.push({ id: newId(), kind: "message", body });
    } else if (message.saidAs !== undefined) items.push({ id: newId(), kind: "message", body: message });
  }
  return items;
}

function contentOf(content: UserContent): MessageContent {
  return typeof content === "string" ? content : [...content];
}

/** Several messages as one: texts with a blank line between, or parts after each other. */
function joinContents(contents: readonly UserContent[]): MessageContent {
  if (contents.length === 1) return contentOf(contents[0]!);
  if (contents.every((content) => typeof content === "string")) return contents.join("\n\n");
  return contents.flatMap((content) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
  );
}
