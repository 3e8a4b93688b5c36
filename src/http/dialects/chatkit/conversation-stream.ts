import { messageOf } from "../../../protocol/base/errors.ts";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import { textOf } from "../../../protocol/threads/items.ts";
import { isNested } from "../../../run/log/fold.ts";
import type { RunStart } from "../../../run/runs.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { followUntil } from "../../stream/follow-run.ts";
import { serverStops, textWithdrawn } from "../../stream/run-errors.ts";
import { createTextSender } from "../../stream/text-sender.ts";
import { createRunWatch } from "../../stream/watch-run.ts";
import { messageId } from "./conversation-items.ts";

type ConversationEvent =
  | { readonly type: "message_delta"; readonly content: string }
  | {
      readonly type: "message_complete";
      readonly conversation_id: number;
      /** Of the last message; absent if nothing was said. */
      readonly message_id?: string;
      readonly status: "done" | "waiting";
    }
  | { readonly type: "error"; readonly conversation_id: number; readonly message: string };

/** Tells the text of a run, and nothing else of it. A closed connection ends the telling, never the run. */
export function streamConversation(call: EndpointCall, started: RunStart, conversation: number): undefined {
  const { request, reply, services, streams } = call;
  const { runId, threadId, cursor, pending } = started;
  reply.header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
  const failure = ({ message }: { readonly message: string }) =>
    sseOf([{ type: "error", conversation_id: conversation, message }]);
  const watch = createRunWatch(runId, pending);
  const read = createTextReader();
  const stream = streams.open(reply, {
    onClose: () => follower.close(),
    farewell: () => failure(serverStops(runId)),
    refusal: failure,
  });
  const place = { target: pending ? { threadId } : { threadId, runId }, from: cursor };
  const follower = followUntil(services.runs, place, {
    events(batch) {
      const { own, ending } = watch(batch);
      const { pieces, last, withdrawn } = read(own);
      if (ending?.status === "waiting") pieces.push((last === undefined ? "" : "\n\n") + ending.text);
      const text = sseOf(pieces.map((content) => ({ type: "message_delta", content })));
      if (withdrawn) stream.end(text + failure(textWithdrawn(runId)));
      else if (!ending) stream.write(text);
      else if ("error" in ending) stream.end(text + failure(ending.error));
      else {
        const { status } = ending;
        const complete = { conversation_id: conversation, ...(last && { message_id: last }), status };
        stream.end(text + sseOf([{ type: "message_complete", ...complete }]));
      }
      return withdrawn || ending !== undefined;
    },
    error(error) {
      request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
      stream.end(failure({ message: "The stream was interrupted; the run continues." }));
    },
    drained: stream.drained,
  });
}

/** The text of a run, message by message, with the id of the last one. `withdrawn`: what was told is not so any more. */
function createTextReader() {
  const text = createTextSender();
  let last: string | undefined;
  let withdrawn = false;
  return (events: readonly RunEvent[]) => {
    const pieces: string[] = [];
    const say = (piece: string | undefined) => {
      if (piece === undefined) withdrawn = true;
      else if (piece !== "" && !withdrawn) pieces.push(piece);
    };
    for (const event of events) {
      if (event.type === "text-delta" && !event.step.includes("/"))
        say(text.delta(event.step, event.offset, event.text));
      if (event.type !== "message" || event.item.body.role !== "assistant" || isNested(event.item)) continue;
      say(text.whole(event.item.step ?? event.item.id, textOf(event.item.body.content)));
      last = messageId(event.item);
    }
    return { pieces, last, withdrawn };
  };
}

function sseOf(events: readonly ConversationEvent[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
