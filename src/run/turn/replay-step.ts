import type { ItemOf } from "../../protocol/threads/items.ts";
import type { RoomTurns, StepOptions, Turn } from "../contract/turn.ts";
import { stepIn } from "../step/ask-model.ts";
import { basisIn } from "../step/run-basis.ts";
import { foldIn, type RunWork } from "../step/work.ts";
import { chosenStrategy } from "./chosen-strategy.ts";

/** More than any run needs to come to its next step, so that a strategy that would never come to one ends. */
const maxMoves = 20_000;

/** Never the options alone: their `then` would make a promise of them wait for it. Undefined: its strategy comes to something else. */
export type ReplayedStep = { readonly options: StepOptions | undefined };

/**
 * How its strategy asks for a step: it looks at what was done, and does what is missing, so that over the log as it was before the
 * step it comes to that step again. Nothing is done meanwhile.
 */
export async function replayStep(work: RunWork, key: string): Promise<ReplayedStep> {
  let options: StepOptions | undefined;
  let moves = 0;
  // A strategy may say in words of its own what became of it, so it is not known by its error.
  const halt = () => Promise.reject(new Error("Nothing is done in a replay."));
  const once = (isDone: boolean) => (isDone && ++moves < maxMoves ? Promise.resolve() : halt());
  const use = (of: string) => {
    const result = work.items.find((item): item is ItemOf<"result"> => item.kind === "result" && item.step === of);
    return result && ++moves < maxMoves ? Promise.resolve(result.body) : halt();
  };
  const turn: Turn = {
    get run() {
      return basisIn(work);
    },
    get fold() {
      return foldIn(work);
    },
    step(of, given = {}) {
      const isDone = stepIn(work, of) !== undefined;
      if (!isDone && of === key) options = given;
      return once(isDone);
    },
    call: halt,
    say: (of) => once(stepIn(work, of) !== undefined),
    record: (of, note) => once(work.items.some((item) => item.kind === note.kind && item.step === of)),
    ask(of) {
      const asked = work.items.find((item) => item.kind === "question" && item.step === of && item.index === null);
      const decision = work.items.find(
        (item): item is ItemOf<"decision"> => item.kind === "decision" && item.body.question === asked?.id,
      );
      return decision && ++moves < maxMoves ? Promise.resolve(decision.body) : halt();
    },
    use,
    delegate: use,
    room: idleRoom(work.owner.runId, halt),
  };
  await chosenStrategy(work)
    .strategy(turn)
    .catch(() => undefined);
  return { options };
}

function idleRoom(runId: string, halt: () => Promise<never>): RoomTurns {
  return {
    runId,
    ...{ since: halt, handles: halt, take: halt, stop: halt, judge: halt, end: halt, wait: halt, news: halt },
  };
}
