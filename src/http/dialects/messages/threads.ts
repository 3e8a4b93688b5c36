import { InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import { itemIdOfCall } from "../../../protocol/threads/items.ts";
import type { ToolSchema } from "../../../protocol/agents/models.ts";
import type { RunDefinition } from "../../../protocol/threads/runs.ts";
import type { RunStart } from "../../../run/runs.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";
import { unknownModel } from "../../answers/answer.ts";
import { startOrContinue, tellRun } from "../../answers/ask-agent.ts";
import { resolveFiles } from "../../answers/attach.ts";
import { bareAgent } from "../../../protocol/agents/bare-agent.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import type { MessagesRequest, ThreadWish } from "./decode.ts";
import { messageWire } from "./encode.ts";
import { messageIdOf, runOfMessage } from "./message-ids.ts";

/**
 * Answers in a conversation that the server keeps: a durable run, of a model too. What continues one comes after the run whose
 * answer it names; two that continue the same are branches.
 */
export async function answerInThread(
  call: EndpointCall,
  asked: MessagesRequest,
  thread: ThreadWish,
): Promise<string | undefined> {
  const { services, streams, reply, caller } = call;
  const { messages } = await resolveFiles(call, asked);
  const request = { ...asked, messages };
  if (!services.agents.has(asked.model) && !services.models.has(asked.model)) throw unknownModel(asked.model, services);
  if (asked.stream) streams.admit(reply, caller.userId);
  const started =
    thread.type === "create"
      ? await startOrContinue(call, { ...request, ...kept(asked.deferred) }, undefined, as(call, asked.model))
      : await goOn(call, request, thread.previous);
  return tellRun(call, { ...request, started }, messageWire(messageIdOf(started)));
}

/** A model answers as an agent that is nothing else. */
function as({ services }: EndpointCall, model: string) {
  return services.agents.has(model) ? {} : { as: bareAgent(model) };
}

async function goOn(call: EndpointCall, asked: MessagesRequest, previous: string): Promise<RunStart> {
  const { caller, services } = call;
  const runId = runOfMessage(previous);
  if (runId === undefined) throw notKept(previous);
  const run = await services.runs.get(caller, runId).catch((error: unknown) => {
    throw error instanceof NotFound ? notKept(previous, error) : error;
  });
  const { options } = await services.runs.definitionOf(caller, runId);
  const brings = asked.messages.some((message) => message.role === "tool");
  if (run.status === "waiting" && run.waitReason === "client" && !brings)
    throw new InvalidInput("The tool_use blocks of that answer need their tool_result blocks first.", {
      param: "messages",
    });
  if (asked.messages.some((message) => message.role === "tool" && itemIdOfCall(message.callId) === undefined))
    throw new InvalidInput("A tool_result names a tool_use_id that the answer does not have.", { param: "messages" });
  const place = { threadId: run.threadId, follows: runId };
  return startOrContinue(call, { ...asked, ...toolsOf(options, asked.referenced) }, place, as(call, asked.model));
}

/** What continues a conversation does not bring its tools again; those that are deferred are no part of its runs. */
function kept(deferred: readonly ToolSchema[] = []): Pick<AnswerRequest, "echo"> {
  return deferred.length > 0 ? { echo: { deferred } } : {};
}

/** The tools that the conversation began with, with those that are named now. */
function toolsOf({ clientTools = [], echo }: RunDefinition["options"], referenced: readonly string[]) {
  const deferred = (echo?.["deferred"] ?? []) as readonly ToolSchema[];
  const shown = new Set(clientTools.map(({ name }) => name));
  const named = deferred.filter(({ name }) => referenced.includes(name) && !shown.has(name));
  const tools = [...clientTools, ...named];
  return { ...(tools.length > 0 && { tools }), ...kept(deferred) };
}

function notKept(id: string, cause?: NotFound): NotFound {
  return new NotFound(`No answer ${id.slice(0, 100)} of a kept conversation was found. Send the whole conversation.`, {
    code: "thread_not_found",
    param: "thread.previous_message_id",
    cause,
  });
}
