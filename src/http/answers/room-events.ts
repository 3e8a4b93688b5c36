import type { RunEvent } from "../../protocol/threads/events.ts";
import { textOf } from "../../protocol/threads/items.ts";
import { isNested } from "../../run/log/fold.ts";
import { runOf } from "../stream/watch-waits.ts";

type AgentTurn = { readonly agent: string; readonly run: string; named: boolean };

/**
 * Turns what happens in a room into what a run says whose answer is all that its members say, each with the speaker before
 * it. Of those who speak at the same time one is told as it speaks, the others when they have spoken.
 */
export function createRoomEvents(root: string): (events: readonly RunEvent[]) => readonly RunEvent[] {
  const turns = new Map<string, AgentTurn>();
  /** Who is told as it speaks. */
  let speaking: AgentTurn | undefined;

  const prefixOf = ({ agent, named }: AgentTurn) => (named ? "" : `[@${agent}]: `);
  const keyOf = (turn: AgentTurn, step: string) => `${turn.run}:${step}`;

  function told(turn: AgentTurn, event: RunEvent): RunEvent[] {
    switch (event.type) {
      case "text-delta": {
        // Who was not told from the beginning is told as a whole.
        if (speaking === undefined && event.offset === 0) speaking = turn;
        if (speaking !== turn) return [];
        const prefix = prefixOf(turn);
        const isFirst = event.offset === 0;
        const offset = isFirst ? 0 : event.offset + prefix.length;
        const text = isFirst ? prefix + event.text : event.text;
        return [{ ...event, run: root, step: keyOf(turn, event.step), offset, text }];
      }
      case "reasoning-delta":
        return [{ ...event, run: root, step: keyOf(turn, event.step) }];
      case "message": {
        const { item } = event;
        const text = textOf(item.body.content);
        const step = isNested(item) ? item.step : keyOf(turn, item.step ?? item.id);
        if (item.body.role !== "assistant") return [];
        if (isNested(item) || text === "") return [{ ...event, item: { ...item, runId: root, step } }];
        const content = `${prefixOf(turn)}${text}${item.body.partial ? " …" : ""}`;
        turn.named = true;
        if (speaking === turn) speaking = undefined;
        return [{ ...event, item: { ...item, runId: root, step, body: { ...item.body, content } } }];
      }
      case "call-start":
        return [
          {
            ...event,
            item: {
              ...event.item,
              runId: root,
              step: keyOf(turn, event.item.step ?? ""),
              body: { ...event.item.body, name: `@${turn.agent} ${event.item.body.name}` },
            },
          },
        ];
      case "call-end":
        return [{ ...event, item: { ...event.item, runId: root, step: keyOf(turn, event.item.step ?? "") } }];
      case "question":
        return [{ ...event, item: { ...event.item, runId: root } }];
      case "decision":
        return [{ ...event, item: { ...event.item, runId: root } }];
      case "run-end":
        if (speaking === turn) speaking = undefined;
        return [];
      default:
        return [];
    }
  }

  return (events) =>
    events.flatMap((event): readonly RunEvent[] => {
      if (event.type === "turn-start") {
        if (event.rootRun === root) turns.set(event.run, { agent: event.agent, run: event.run, named: false });
        return [];
      }
      const turn = turns.get(runOf(event) ?? "");
      if (turn) return told(turn, event);
      if (event.type !== "notice" || event.item.runId !== root) return [event];
      const { item, seq } = event;
      const body = { role: "assistant" as const, content: `[room]: ${item.body.text}` };
      return [{ type: "message", seq, item: { ...item, kind: "message", step: `notice:${item.id}`, body } }];
    });
}
