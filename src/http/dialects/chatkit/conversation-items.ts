import { z } from "zod";
import { type Item, textOf } from "../../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import { callKey } from "../../../run/log/fold.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { branchBackwards } from "./read-thread.ts";

const partSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("tool_call"), tool_call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal("tool_result"), tool_call_id: z.string(), content: z.string() }),
]);
export const messageSchema = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  content: z.array(partSchema),
});
export type ConversationMessage = z.output<typeof messageSchema>;

/** What was said, asked of tools and brought by them on the branch that counts, newest first. */
export async function* messagesBackwards(
  call: Pick<EndpointCall, "services" | "caller">,
  thread: ThreadRecord,
): AsyncGenerator<ConversationMessage> {
  for await (const item of branchBackwards(call, thread)) {
    const message = messageOf(item);
    if (message) yield message;
  }
}

export function messageId(item: Pick<Item, "id">): string {
  return "message_" + item.id.replaceAll("-", "");
}

function messageOf(item: Item): ConversationMessage | undefined {
  const id = messageId(item);
  switch (item.kind) {
    case "message": {
      const text = textOf(item.body.content);
      if (item.body.role === "system" || text === "") return undefined;
      return { id, role: item.body.role, content: [{ type: "text", text }] };
    }
    case "call": {
      const { name, arguments: asked } = item.body;
      const content = [{ type: "tool_call" as const, tool_call_id: pairId(item), name, arguments: asked }];
      return { id, role: "assistant", content };
    }
    case "result": {
      const content = [{ type: "tool_result" as const, tool_call_id: pairId(item), content: item.body.content }];
      return { id, role: "assistant", content };
    }
    default:
      return undefined;
  }
}

/** The same for a call and its result, whichever of them a page holds. */
function pairId(item: Item): string {
  return `call_${(item.runId ?? item.threadId).replaceAll("-", "")}_${callKey(item)}`;
}
