import { type Handover, lastHandover } from "../turn/team.ts";
import type { SayOptions, Turn } from "../contract/turn.ts";

/** The part of a turn that this strategy uses. */
export type ToolsTurn = Pick<Turn, "fold" | "step" | "call" | "say"> & { readonly run: Pick<Turn["run"], "team"> };

/** Native tool calling: the model calls tools and sees their results, until it answers. */
export async function tools(turn: ToolsTurn): Promise<void> {
  for (;;) {
    const { openCalls, answer, steps, items } = turn.fold;
    const key = String(steps + 1);
    const handover = lastHandover(items);
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) return;
    else if (handover) await turn.say(key, handover.content, { final: true, ...writerOf(turn, handover) });
    else await turn.step(key, { final: true });
  }
}

/** Whose words an answer is that was handed over: the agent's, by its model. */
function writerOf({ run }: ToolsTurn, { agent: id, model }: Handover): Pick<SayOptions, "as" | "model"> {
  const member = run.team.find(({ agent }) => agent.id === id);
  return member ? { as: member.agent, model } : { model };
}
