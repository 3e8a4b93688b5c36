import type { AnswerPart } from "../../answers/answer-parts.ts";
import { deltaHead } from "./event-writer.ts";
import { callItem, type ServerCall, serverCallItem } from "./output-items.ts";
import type { OutputPlace, OutputWriter } from "./output-writer.ts";
import { type ClientTool, customInput } from "./tool-names.ts";

type PartOf<Type extends AnswerPart["type"]> = Extract<AnswerPart, { type: Type }>;
type ClientCall = {
  readonly place: OutputPlace;
  readonly callId: string;
  readonly tool: ClientTool;
  /** Of the events of its arguments' pieces. */
  readonly head: string;
  written: string;
};

/** Calls of the client's tools. Models may write several at once, so all end together. */
export function createClientCalls(out: OutputWriter, tools: ReadonlyMap<string, ClientTool>) {
  const open = new Map<number, ClientCall>();
  const itemOf = ({ place, callId, tool, written }: ClientCall, status: "in_progress" | "completed") =>
    callItem({ id: place.id, callId, status, tool }, written);

  const endOf = ({ place, tool, written }: ClientCall): string => {
    if (tool.type === "function")
      return out.event(
        "response.function_call_arguments.done",
        `${place.fields},"name":${JSON.stringify(tool.name)},"arguments":${JSON.stringify(written)}`,
      );
    const input = customInput(written);
    return (
      out.delta(deltaHead("response.custom_tool_call_input.delta", place.fields), input) +
      out.event("response.custom_tool_call_input.done", `${place.fields},"input":${JSON.stringify(input)}`)
    );
  };

  return {
    start({ index, id: callId, name }: PartOf<"call-start">): string {
      const tool = tools.get(name) ?? ({ type: "function", name } as const);
      const place = out.next(tool.type === "custom" ? "ctc" : "fc");
      const head = deltaHead("response.function_call_arguments.delta", place.fields);
      const call = { place, callId, tool, head, written: "" };
      open.set(index, call);
      return out.added(call.place, itemOf(call, "in_progress"));
    },
    write({ index, arguments: piece }: PartOf<"call-delta">): string {
      const call = open.get(index)!;
      call.written += piece;
      if (call.tool.type === "custom" || piece === "") return "";
      return out.delta(call.head, piece);
    },
    end(): string {
      let events = "";
      for (const call of open.values()) events += endOf(call) + out.done(call.place, itemOf(call, "completed"));
      open.clear();
      return events;
    },
  };
}

/** Calls of the server's own tools, which no client runs. */
export function createServerCalls(out: OutputWriter) {
  const open = new Map<string, { readonly place: OutputPlace; readonly call: ServerCall }>();
  return {
    start({ id: callId, name, arguments: written }: PartOf<"tool-start">): string {
      const place = out.next("mcp");
      const call = { id: place.id, name, arguments: written };
      open.set(callId, { place, call });
      return (
        out.added(place, serverCallItem(call, "in_progress")) +
        out.event("response.mcp_call.in_progress", place.fields) +
        out.event("response.mcp_call_arguments.done", `${place.fields},"arguments":${JSON.stringify(written)}`)
      );
    },
    end({ id: callId, ...result }: PartOf<"tool-end">): string {
      const found = open.get(callId);
      if (!found) return "";
      open.delete(callId);
      const status = result.isError ? "failed" : "completed";
      return (
        out.event(`response.mcp_call.${status}`, found.place.fields) +
        out.done(found.place, serverCallItem(found.call, status, result))
      );
    },
    /** They are done in another response, if at all. */
    leave(): string {
      let events = "";
      for (const { place, call } of open.values()) events += out.done(place, serverCallItem(call, "incomplete"));
      open.clear();
      return events;
    },
  };
}
