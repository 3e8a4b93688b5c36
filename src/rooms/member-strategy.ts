import type { AgentDefinition, RoomMember } from "../protocol/agents/agents.ts";
import { passText } from "../protocol/agents/rooms.ts";
import type { Turn } from "../run/contract/turn.ts";
import { explainMemberFailure } from "./failed-members.ts";
import { threadSeenBy } from "./thread-seen-by.ts";

/** The part of a turn that this strategy uses. */
type MembersTurn = Pick<Turn, "fold" | "step" | "call" | "room"> & { readonly run: Pick<Turn["run"], "agent"> };

/** A member's turn in a room: it calls tools and sees their results until it has said something, or has passed. */
export async function member(turn: MembersTurn): Promise<void> {
  const { agent } = turn.run;
  const options = {
    final: true,
    told: threadSeenBy(agent.id, { isPrivate: agent.room?.private ?? false, watches: parentOf(turn) }),
    voice: { name: agent.id, pass: passText },
    // A summary would tell all what only some have heard.
    ...(agent.room?.private ? { withoutSummary: true } : {}),
    ...(agent.room ? { pastMessages: agent.room.messages } : {}),
  };
  for (;;) {
    const { openCalls, answer, steps, items } = turn.fold;
    if (openCalls.length > 0) {
      if (await isStopped(turn, openCalls)) return;
      await turn.call(openCalls);
    } else if (answer || items.some((item) => item.kind === "state" && item.body.type === "pass")) return;
    else
      await turn.step(String(steps + 1), options).catch((error: unknown) => {
        throw explainMemberFailure(agent, error);
      });
  }
}
member.handsOver = true as const;

/** The run that its turn is within: the room's, or that of the member at which it looks. */
function parentOf({ fold }: MembersTurn): string | undefined {
  for (const { kind, body } of fold.items)
    if (kind === "state" && !("erased" in body) && body.type === "turn") return body.parentRun;
  return undefined;
}

/** Shows what is about to be done to those who may interrupt; whoever says something stops it. */
async function isStopped(turn: MembersTurn, calls: Turn["fold"]["openCalls"]): Promise<boolean> {
  const { agent } = turn.run;
  const step = calls[0]!.step;
  const message = turn.fold.items.find((item) => item.kind === "message" && item.step === step);
  if (!agent.room || !message) return false;
  for (const watcher of agent.room.members) {
    const outcome = await turn.room.take({
      agent: watching(watcher, agent),
      answers: message.id,
      within: { tools: [] },
    });
    if (outcome === "spoke") {
      await turn.room.stop(`Not run: @${watcher.agent.id} has stopped this turn.`);
      return true;
    }
  }
  return false;
}

function watching({ agent: watcher }: RoomMember, agent: AgentDefinition): AgentDefinition {
  return {
    ...watcher,
    strategy: "member",
    instructions: `${watcher.instructions}\n\n@${agent.id} is about to run what stands last in the conversation as [about to run: …]. If it may be run, answer only ${passText}. If it must not be, say why: what you say stops @${agent.id} before it is run.`,
    tools: [],
    // Else it would hear, while it watches, what others said to some only.
    ...(agent.room?.private ? { room: { ...agent.room, members: [] } } : {}),
  };
}
