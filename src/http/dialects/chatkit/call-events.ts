import type { CallItem } from "../../../run/log/call-items.ts";
import type { ItemOf } from "../../../protocol/threads/items.ts";
import { callKey } from "../../../run/log/fold.ts";
import { shownItemId } from "./ids.ts";
import type { StreamEvent } from "./stream-events.ts";
import { shownCall, shownCalls, shownClientCall } from "./encode.ts";

/** The server's calls of one step: a workflow that is open until each has its result, or the stream ends. */
type WorkflowCalls = { readonly calls: [CallItem, ...CallItem[]]; open: boolean };

/** Tells calls: the server's as tasks of a workflow, the client's one at a time, since the protocol knows no two. */
export type CallEncoder = {
  begin(call: CallItem): void;
  end(result: ItemOf<"result">): void;
  /** Tells the client which of its tools to run now; false: none. */
  askClient(): boolean;
  /** Nothing more is told of what is open, unless it changes in a later stream. */
  close(): void;
};

export function createCallEncoder(put: (event: StreamEvent) => void): CallEncoder {
  const works = new Map<string, WorkflowCalls>();
  const results = new Map<string, ItemOf<"result">>();
  /** Without a result yet. */
  const clientCalls = new Map<string, CallItem>();
  const resultOf = (call: CallItem) => results.get(callKey(call));

  const closeWork = (work: WorkflowCalls) => {
    work.open = false;
    put({ type: "thread.item.done", item: shownCalls(work.calls, resultOf) });
  };

  return {
    begin(call) {
      if (call.body.target === "client") {
        clientCalls.set(callKey(call), call);
        return;
      }
      const work = works.get(call.step!);
      if (!work) {
        works.set(call.step!, { calls: [call], open: true });
        put({ type: "thread.item.added", item: shownCalls([call], resultOf) });
        return;
      }
      const task_index = work.calls.push(call) - 1;
      const update = { type: "workflow.task.added", task_index, task: shownCall(call, undefined) } as const;
      put({ type: "thread.item.updated", item_id: shownItemId("wf", work.calls[0].id), update });
    },
    end(result) {
      const key = callKey(result);
      results.set(key, result);
      clientCalls.delete(key);
      const work = works.get(result.step!);
      const task_index = work?.calls.findIndex((call) => callKey(call) === key) ?? -1;
      if (!work || task_index === -1) return;
      if (!work.open) {
        put({ type: "thread.item.replaced", item: shownCalls(work.calls, resultOf) });
        return;
      }
      const task = shownCall(work.calls[task_index]!, result);
      const update = { type: "workflow.task.updated", task_index, task } as const;
      put({ type: "thread.item.updated", item_id: shownItemId("wf", work.calls[0].id), update });
      if (work.calls.every(resultOf)) closeWork(work);
    },
    askClient() {
      const [first] = clientCalls.values();
      if (first) put({ type: "thread.item.done", item: shownClientCall(first, undefined) });
      return first !== undefined;
    },
    close() {
      for (const work of works.values()) if (work.open) closeWork(work);
    },
  };
}
