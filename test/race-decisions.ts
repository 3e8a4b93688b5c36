import type { TestRuns } from "./runs.ts";

/** Runs that ask, one after the other; each question is answered twice at the moment at which it is asked. Throws unless one answer counts. */
export async function raceDecisions(
  { runs, approvals, caller }: Pick<TestRuns, "runs" | "approvals" | "caller">,
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const started = await runs.start(caller, { agent: "assistant", message: { content: "go" } });
    const ended = Promise.withResolvers<void>();
    const follower = runs.follow(started, started.cursor, {
      events(batch) {
        for (const event of batch) {
          if (event.type === "question") {
            const decide = () =>
              approvals.decide(caller, started.runId, { questionId: event.item.id, input: { decision: "allow" } });
            void Promise.allSettled([decide(), decide()]).then((both) => {
              if (both.filter((one) => one.status === "fulfilled").length !== 1)
                ended.reject(new Error("not exactly one decision"));
            });
          }
          if (event.type === "run-end") ended.resolve();
        }
      },
      error: ended.reject,
    });
    await ended.promise;
    follower.close();
  }
}
