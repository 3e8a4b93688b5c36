import type { FinishReason, Usage } from "../../../protocol/agents/models.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";
import type { JsonFields } from "../../answers/request-values.ts";
import { createClientCalls, createServerCalls } from "./call-events.ts";
import { approvalItem } from "./output-items.ts";
import { createOutputWriter } from "./output-writer.ts";
import { type ResponseHead, type ResponseState, responseObject, type ResponseStatus } from "./response-object.ts";
import { createTextItems } from "./text-items.ts";
import { clientTools } from "./tool-names.ts";

export type ResponseEvents = {
  /** The text of a batch of parts. This runs for every token. */
  read(parts: readonly AnswerPart[]): string;
  /** The text of an end that is none of the answer's own. */
  end(end: ResponseEnd): string;
  /** The position of what was told last. */
  last(): number;
  /** The response as it is after that. */
  response(end?: ResponseEnd): object;
};

/** How a response came out that did not finish by itself. */
export type ResponseEnd = {
  readonly status: Extract<ResponseStatus, "failed" | "cancelled" | "queued" | "in_progress">;
  readonly error?: ResponseState["error"];
};

export type EventOptions = {
  /** Whether the answer of a run is told, which can be taken up. */
  readonly isKept: boolean;
  /** Only what comes after this position is told. */
  readonly after?: number;
  /** Its first events say that it waits for its turn. */
  readonly isQueued?: boolean;
};

/**
 * Tells an answer as OpenAI's events. Their `sequence_number` is a position: every event takes one, a piece of text as many as it
 * has characters, so that the same answer has the same positions however it is cut into pieces.
 */
export function createResponseEvents(head: ResponseHead, options: EventOptions): ResponseEvents {
  const out = createOutputWriter(head.id, options);
  const texts = createTextItems(out);
  const calls = createClientCalls(out, clientTools(head.echo["tools"]));
  const serverCalls = createServerCalls(out);
  const { tools } = head.echo;
  const knowsApprovals = Array.isArray(tools) && tools.some((tool: JsonFields) => tool["type"] === "mcp");
  let model = "";
  let usage: Usage | undefined;
  let finished: FinishReason | undefined;

  /**
   * What is asked about a call can be answered by an item of the next request. Everything else is told in words, and that too to whoever
   * names no server of tools: a client that does not know such items, as Codex, would show nothing.
   */
  function wait({ text, questions }: Extract<AnswerPart, { type: "wait" }>): string {
    let events = texts.close() + serverCalls.leave();
    const approvals = questions.filter(({ body }) => body.reason === "approval");
    if (approvals.length === 0 || approvals.length < questions.length || !knowsApprovals)
      events += texts.say(text) + texts.close();
    for (const question of approvals) {
      const item = approvalItem(question);
      const place = out.next("mcpr");
      events += out.added(place, item) + out.done(place, item);
    }
    return events;
  }

  const responseAfter = (end?: ResponseEnd) => {
    const { status, incomplete } = end ? { status: end.status } : statusOf(finished);
    return responseObject(head, { status, model, output: out.output, usage, error: end?.error, incomplete });
  };
  const withResponse = (type: string, end?: ResponseEnd) =>
    out.event(type, `"response":${JSON.stringify(responseAfter(end))}`);

  function tell(part: AnswerPart): string {
    switch (part.type) {
      case "text":
        return texts.say(part.text);
      case "reasoning":
        return texts.think(part.text);
      case "start": {
        model = part.model;
        const status = options.isQueued ? "queued" : "in_progress";
        return withResponse("response.created", { status }) + withResponse(`response.${status}`, { status });
      }
      case "citations":
        return texts.cite(part.citations);
      case "call-start":
        return texts.close() + calls.start(part);
      case "call-delta":
        return calls.write(part);
      case "tool-start":
        return texts.close() + serverCalls.start(part);
      case "tool-end":
        return serverCalls.end(part);
      case "wait":
        return wait(part);
      case "finish": {
        const events = texts.close() + calls.end();
        ({ usage } = part);
        finished = part.reason;
        return events + withResponse(`response.${statusOf(finished).status}`);
      }
    }
  }

  return {
    read(parts) {
      let events = "";
      for (const part of parts) events += tell(part);
      return events;
    },
    end: (end) => texts.close() + withResponse("response.failed", end),
    last: () => out.position() - 1,
    response(end) {
      if (end) texts.close();
      return responseAfter(end);
    },
  };
}

function statusOf(reason: FinishReason | undefined): Pick<ResponseState, "incomplete" | "status"> {
  if (reason === undefined) return { status: "in_progress" };
  if (reason === "length") return { status: "incomplete", incomplete: "max_output_tokens" };
  if (reason === "filter") return { status: "incomplete", incomplete: "content_filter" };
  return { status: "completed" };
}
