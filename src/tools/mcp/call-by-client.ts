import type { Client, Tool as ProtocolTool } from "@modelcontextprotocol/client";
import type { ListedTool } from "./catalogue.ts";
import type { CallRequest, ToolCall } from "./tool-calls.ts";

/** A call in the client's own way, which repeats arguments in headers. No server asks in the middle of it. */
export function callByClient(client: Client, tool: ListedTool, request: CallRequest): ToolCall {
  const { params, timeoutMs, onprogress } = request;
  const stop = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  const options = { signal: stop.signal, timeout: timeoutMs, onprogress, allowInputRequired: true };
  client
    .callTool(params, { ...options, toolDefinition: { ...tool, outputSchema: undefined } as ProtocolTool })
    .then(resolve, reject);
  const call = {
    answer: promise,
    wasCancelled: false,
    cancel(reason: unknown) {
      call.wasCancelled = true;
      reject(reason);
      stop.abort(reason);
    },
    hold() {},
    goOn() {},
  };
  return call;
}
