import { RunWaits } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { ItemOf, NewItem } from "../../protocol/threads/items.ts";
import type { CallItem } from "../log/call-items.ts";
import type { RoomTurns, Turn } from "../contract/turn.ts";
import { commit } from "../step/commit.ts";
import { basisIn } from "../step/run-basis.ts";
import { runStep, record, say } from "../step/run-step.ts";
import { foldIn, type RunWork } from "../step/work.ts";
import { createRoomTurns } from "./room-turns.ts";
import { runCalls } from "./run-calls.ts";
import { delegateName } from "./team.ts";
import { wait } from "./wait.ts";

/** Creates what a strategy works with: its only access to models, tools, people and the store. */
export function createTurn(work: RunWork): Turn {
  const { agent } = work.taken.definition;
  let room: RoomTurns | undefined;
  const turn: Turn = {
    get run() {
      return basisIn(work);
    },
    get fold() {
      return foldIn(work);
    },
    step: (key, options) => runStep(work, key, options),
    async call(calls) {
      await runCalls(work, calls);
      // A strategy has nothing more to do then; what follows here is for its next turn.
      if (work.left === "waiting") throw new RunWaits();
    },
    say: (key, text, options) => say(work, key, text, options),
    record: (key, note) => record(work, key, note),
    async ask(key, question) {
      const asked = work.items.find(
        (item): item is ItemOf<"question"> => item.kind === "question" && item.step === key && item.index === null,
      );
      const decision = work.items.find(
        (item): item is ItemOf<"decision"> => item.kind === "decision" && item.body.question === asked?.id,
      );
      if (decision) return decision.body;
      const item: NewItem = { id: newId(), kind: "question", step: key, body: { reason: "question", ...question } };
      await wait(work, "question", question.text, { items: asked ? [] : [item] });
      throw new RunWaits();
    },
    async use(key, call) {
      const made = work.items.find((item): item is CallItem => item.kind === "call" && item.step === key);
      if (!made) await commit(work, [callItem(key, call, agent.id)]);
      await turn.call(foldIn(work).openCalls.filter((item) => item.step === key));
      return work.items.find((item): item is ItemOf<"result"> => item.kind === "result" && item.step === key)!.body;
    },
    get room() {
      return (room ??= createRoomTurns(work));
    },
    delegate: (key, errand) => turn.use(key, { name: delegateName, arguments: JSON.stringify(errand) }),
  };
  return turn;
}

function callItem(step: string, call: Pick<CallItem["body"], "name" | "arguments">, author: string): NewItem {
  const body = { ...call, target: "server" } as const;
  return { id: newId(), kind: "call", step, index: 0, author, body };
}
