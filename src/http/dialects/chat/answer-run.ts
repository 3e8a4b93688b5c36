import { messageOf } from "../../../protocol/base/errors.ts";
import { type Item, textOf } from "../../../protocol/threads/items.ts";
import { type ActionEvent, actionTrace } from "../../../run/strategies/json-actions-trace.ts";
import type { RunStart } from "../../../run/runs.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { createAnswerImages } from "../../requests/answer-images.ts";
import { followUntil, followUntilEnough, runTarget } from "../../stream/follow-run.ts";
import { serverStops } from "../../stream/run-errors.ts";
import { createUiMessage } from "./ui-message.ts";
import { createRunWatch, type RunEnding } from "../../stream/watch-run.ts";

type FollowedStart = Pick<RunStart, "runId" | "threadId" | "cursor" | "pending" | "resumedAt">;

const streamHeaders = { "x-vercel-ai-ui-message-stream": "v1" };

/** The answer and how it came about, once the run has ended. */
export async function awaitAnswer(
  call: EndpointCall,
  place: FollowedStart,
): Promise<{ readonly answer: string; readonly events: readonly ActionEvent[] }> {
  const { reply } = call;
  const items: Item[] = [];
  const ending = await followToEnd(call, place, items);
  reply.header("x-colloquy-status", ending.status);
  if (ending.status === "failed" || ending.status === "cancelled") throw ending.error;
  if (ending.status === "waiting" && ending.outage) throw ending.outage;
  const events = actionTrace(items, namesIn(call));
  return { answer: ending.status === "waiting" ? ending.text : answerIn(items), events };
}

async function followToEnd(call: EndpointCall, place: FollowedStart, items: Item[]): Promise<RunEnding> {
  const watch = createRunWatch(place.runId, place.pending);
  let ended: RunEnding | undefined;
  await followUntilEnough(call, place.runId, targetOf(place), (events) => {
    const { own, ending } = watch(events);
    for (const event of own) if ("item" in event) items.push(event.item);
    ended = ending;
    return ended !== undefined;
  });
  return ended!;
}

function answerIn(items: readonly Item[]): string {
  const last = items.findLast((item) => item.kind === "message" && item.body.role === "assistant");
  return last?.kind === "message" ? textOf(last.body.content) : "";
}

/** The run as an AI SDK UI message stream. */
export function streamRun(call: EndpointCall, place: FollowedStart): undefined {
  const { request, reply, services, streams } = call;
  const watch = createRunWatch(place.runId, place.pending);
  const message = createUiMessage(place, namesIn(call), createAnswerImages(call, place.threadId));
  const stream = streams.open(reply, {
    headers: streamHeaders,
    onClose: () => follower.close(),
    farewell: () => message.fail(serverStops(place.runId).message),
    refusal: (error) => message.fail(error.message),
  });
  stream.write(message.start());
  const follower = followUntil(services.runs, targetOf(place), {
    events(events) {
      const seen = watch(events);
      const text = message.tell(seen);
      if (seen.ending) stream.end(text);
      else if (text !== "") stream.write(text);
      return seen.ending !== undefined;
    },
    error(error) {
      request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
      stream.end(message.fail("The stream was interrupted; the run continues."));
    },
    drained: stream.drained,
  });
}

/** Behind another run its thread is followed, since that one may have to wait for a person. */
function targetOf(place: FollowedStart) {
  return { target: place.pending ? { threadId: place.threadId } : runTarget(place), from: place.cursor };
}

/** With them, actions are read that name a tool or an agent in a wrong place. */
function namesIn({ services }: EndpointCall) {
  return {
    tools: services.tools.list().map(({ name }) => name),
    agents: services.agents.list().map(({ id }) => id),
  };
}
