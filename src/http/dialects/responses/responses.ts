import { z } from "zod";
import { Conflict } from "../../../protocol/base/errors.ts";
import { isEnded } from "../../../protocol/threads/runs.ts";
import { tellRun } from "../../answers/ask-agent.ts";
import { endpoint } from "../../server/endpoint.ts";
import { createResponse } from "./create.ts";
import { inputItems, pageOf } from "./conversation-items.ts";
import { findResponse, readResponse } from "./kept-response.ts";
import {
  createSchema,
  deletedSchema,
  itemListQuery,
  itemListSchema,
  responseAnswers,
  responseParams,
  responseSchema,
} from "./schemas.ts";
import { keptHead, responseWire } from "./wire.ts";

export const createResponseRoute = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Create a response",
  description: "OpenAI's Responses, streamed (`stream: true`) or not. A response is a durable run, or a piece of one.",
  takesLong: true,
  body: createSchema,
  decodesBody: true,
  answers: responseAnswers,
  handle: createResponse,
});

export const getResponse = endpoint({
  needs: ["threads:read", "own"],
  tag: "OpenAI",
  summary: "Get a response, or take up its stream",
  params: responseParams,
  query: z.object({
    stream: z.enum(["true", "false"]).optional(),
    starting_after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  }),
  answers: responseAnswers,
  async handle(call) {
    const { params, query, caller, reply, streams } = call;
    const kept = await findResponse(call, params.id);
    if (query.stream !== "true") return readResponse(call, kept);
    streams.admit(reply, caller.userId);
    const { told, echo, runId, seq } = kept;
    const after = query.starting_after;
    const options = { isKept: true, isQueued: echo["background"] === true, ...(after !== undefined && { after }) };
    return tellRun(call, { ...told, stream: true }, responseWire(keptHead({ runId, seq }, echo), options));
  },
});

export const cancelResponse = endpoint({
  needs: ["threads:write", "own"],
  tag: "OpenAI",
  summary: "Cancel a response",
  params: responseParams,
  answers: { 200: responseSchema },
  async handle(call) {
    const { services, caller, params } = call;
    const kept = await findResponse(call, params.id);
    await services.runs.cancel(caller, kept.runId);
    return readResponse(call, await findResponse(call, params.id));
  },
});

export const deleteResponse = endpoint({
  needs: "threads:delete",
  tag: "OpenAI",
  summary: "Delete a response",
  description:
    "With all that its run answered. What was said stays for the responses that follow it, and goes with the last of them. " +
    "409 `in_conversation`: what is said in a conversation goes with that.",
  params: responseParams,
  answers: { 200: deletedSchema },
  async handle(call) {
    const { services, caller, params } = call;
    const { run, id } = await findResponse(call, params.id);
    const thread = await services.threads.getThread(caller, run.threadId);
    if (!thread.hidden)
      throw new Conflict(`The response ${id} is a part of a conversation: delete that.`, { code: "in_conversation" });
    if (!isEnded(run.status)) await services.runs.cancel(caller, run.id);
    await services.threads.forgetRun(caller, run.id);
    return { id, object: "response", deleted: true as const };
  },
});

export const listInputItems = endpoint({
  needs: ["threads:read", "own"],
  tag: "OpenAI",
  summary: "List what a response answers",
  params: responseParams,
  query: itemListQuery,
  answers: { 200: itemListSchema },
  async handle(call) {
    return pageOf(await inputItems(call, await findResponse(call, call.params.id)), call.query);
  },
});
