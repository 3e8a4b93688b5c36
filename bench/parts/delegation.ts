import { temporaryFolder } from "../../test/pglite.ts";
import { startPostgres } from "../../test/postgres.ts";
import { startTestRuns } from "../../test/runs.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { inRounds, withOwned, type Part } from "../part.ts";
import { tripsOf } from "../run-trips.ts";
import { summarize } from "../statistics.ts";

type Cost = { readonly trips: number; readonly ms: number };

/**
 * Three model steps each: `alone` calls two tools that read, one after the other; `delegated` hands a task over, which the
 * other agent answers in one step, and then answers itself.
 */
export const delegation: Part = {
  name: "delegation",
  run: (bench) =>
    withOwned(async (own) => {
      const postgres = own(await startPostgres({ fsync: true }));
      const database = await openDatabase({
        url: await postgres.createDatabase(),
        dataDirectory: temporaryFolder("bench"),
      });
      own({ stop: database.close });
      await migrate(database);
      const service = await startTestRuns({
        database,
        agent: { agents: ["worker"] },
        agents: [{ id: "worker", instructions: "worker" }],
        script({ messages }) {
          if (messages[0]?.content === "worker") return "Done.";
          const asked = messages.find(({ role }) => role === "user")?.content;
          const results = messages.filter(({ role }) => role === "tool").length;
          if (results === (asked === "alone" ? 2 : 1)) return "All done.";
          return asked === "alone"
            ? [{ call: "now", arguments: {} }]
            : [{ call: "delegate", arguments: { agent: "worker", task: "Do it." } }];
        },
      });
      own({ stop: () => service.stop(0) });
      bench.log("delegation: SQL round trips and time");
      const runs = bench.quick ? 3 : 25;
      const costs = await inRounds(bench.rounds, ["alone", "delegated"] as const, async (subject): Promise<Cost> => {
        const trips: number[] = [];
        const ms: number[] = [];
        for (let run = 0; run < runs; run++) {
          const began = performance.now();
          trips.push(await tripsOf(service, database, subject));
          ms.push(performance.now() - began);
        }
        return { trips: summarize(trips).median, ms: summarize(ms).median };
      });
      const row = (name: string, unit: string, valueOf: (cost: Cost) => number) => ({
        part: "delegation",
        name: `${name} of a run with a delegated task, against as many model steps in one run, postgres`,
        unit,
        values: costs.delegated.map(valueOf),
        reference: costs.alone.map(valueOf),
      });
      return [row("SQL round trips", "", ({ trips }) => trips), row("time", "ms", ({ ms }) => ms)];
    }),
};
