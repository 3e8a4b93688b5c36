import type { Runner } from "../scenarios.ts";
import { add, addTool } from "../scenarios.ts";
import { sseEvents } from "./sse-events.ts";

type Call = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; arguments: string };
};
type Message = {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly Call[];
  readonly tool_call_id?: string;
};
type Chunk = {
  readonly choices: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
};

/** The limit: an agent loop written by hand over the platform's fetch, for one wire and one tool. */
export function createRunner(baseUrl: string): Runner {
  return async (scenario, onText) => {
    const messages: Message[] = [
      { role: "system", content: scenario.instructions },
      ...scenario.history,
      { role: "user", content: scenario.prompt },
    ];
    for (let step = 0; step < 10; step++) {
      let text = "";
      const calls: Call[] = [];
      const push = sseEvents((data) => {
        if (data === "[DONE]") return;
        const delta = (JSON.parse(data) as Chunk).choices[0]?.delta;
        if (delta?.content) {
          text += delta.content;
          onText(delta.content);
        }
        for (const piece of delta?.tool_calls ?? []) {
          const call = (calls[piece.index] ??= {
            id: piece.id ?? "",
            type: "function",
            function: { name: piece.function.name ?? "", arguments: "" },
          });
          call.function.arguments += piece.function.arguments ?? "";
        }
      });
      const response = await fetch(baseUrl + "/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer bench" },
        body: JSON.stringify({
          model: scenario.model,
          messages,
          tools: [addTool],
          stream: true,
          stream_options: { include_usage: true },
        }),
      });
      if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
      for await (const bytes of response.body) push(bytes);
      if (calls.length === 0) return text;
      messages.push({ role: "assistant", content: text || null, tool_calls: calls });
      for (const call of calls) {
        const sum = add(JSON.parse(call.function.arguments) as { a: number; b: number });
        messages.push({ role: "tool", tool_call_id: call.id, content: String(sum) });
      }
    }
    throw new Error("too many steps");
  };
}
