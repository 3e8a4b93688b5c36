import { messageOf } from "../../../protocol/base/errors.ts";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import type { RunStart } from "../../../run/runs.ts";
import { shownName } from "../../../tools/taiga/tool-names.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { followUntil, runTarget } from "../../stream/follow-run.ts";
import { publicQuestion } from "../../shapes/question-view.ts";
import { serverStops } from "../../stream/run-errors.ts";
import type { OutcomeReader } from "./outcome.ts";

/** Tells the run as events `text`, `call`, `result` and `question`; the last one, `done`, has the whole answer. */
export function streamRun(call: EndpointCall, started: RunStart, reader: OutcomeReader): undefined {
  const { runId } = started;
  const { request, reply, services, streams } = call;
  const failed = (error: unknown) => eventText("error", { run_id: runId, message: messageOf(error) });
  const stream = streams.open(reply, {
    onClose: () => follower.close(),
    farewell: () => failed(serverStops(runId)),
    refusal: failed,
  });
  stream.write(eventText("run", { run_id: runId }));
  const follower = followUntil(
    services.runs,
    { target: runTarget(started), from: started.cursor },
    {
      events(events) {
        const text = events.map(tell).join("");
        const isOver = reader.read(events);
        if (isOver) stream.end(text + eventText("done", reader.answer()));
        else if (text !== "") stream.write(text);
        return isOver;
      },
      error(error) {
        request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
        stream.end(failed(error));
      },
      drained: stream.drained,
    },
  );
}

function tell(event: RunEvent): string {
  switch (event.type) {
    case "text-delta":
      return eventText("text", { step: event.step, text: event.text });
    case "step-retry":
      return eventText("retry", { step: event.step, ...(event.retry ? { text: event.retry.text } : {}) });
    case "call-start":
      return eventText("call", { tool: shownName(event.item.body.name), arguments: event.item.body.arguments });
    case "call-end": {
      const { content, isError = false } = event.item.body;
      return eventText("result", { tool: shownName(event.item.author ?? ""), content, is_error: isError });
    }
    case "question":
      return eventText("question", publicQuestion(event.item));
    default:
      return "";
  }
}

function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
