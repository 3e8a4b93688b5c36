import type { Strategy, Turn } from "../src/run/contract/turn.ts";

export type StandingStill = {
  readonly strategy: Strategy;
  /** Resolves when it stands. */
  readonly stands: Promise<void>;
  /** It never goes on: what it waited for fails. */
  readonly giveUp: () => void;
};

/** A strategy that does no more after so many of its acts are committed, as if its process had died there. */
export function standingStill(strategy: Strategy, { after }: { after: number }): StandingStill {
  const stands = Promise.withResolvers<void>();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  let acts = 0;
  const counted =
    <Given extends unknown[]>(act: (...given: Given) => Promise<void>) =>
    async (...given: Given) => {
      await act(...given);
      if (++acts < after) return;
      stands.resolve();
      await over.promise;
    };
  const standing = (turn: Turn) =>
    strategy({
      ...turn,
      get run() {
        return turn.run;
      },
      get fold() {
        return turn.fold;
      },
      step: counted(turn.step),
      call: counted(turn.call),
      record: counted(turn.record),
    });
  return {
    strategy: Object.assign(standing, { prompts: strategy.prompts ?? [] }),
    stands: stands.promise,
    // Not before a stop that has just begun has reached the run: else it would end as failed instead of being handed over.
    giveUp: () => void setImmediate(() => over.reject(new Error("gave up"))),
  };
}
