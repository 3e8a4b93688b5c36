import { z } from "zod";
import { startPostgres } from "../../test/postgres.ts";
import { startTestRuns } from "../../test/runs.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { inRounds, withOwned, type Part } from "../part.ts";
import { tripsOf } from "../run-trips.ts";
import { summarize } from "../statistics.ts";

const input = z.object({});
const tools = [
  defineTool({ name: "read_it", description: "Reads.", input, effect: "read", execute: () => "read" }),
  defineTool({ name: "write_it", description: "Writes elsewhere.", input, effect: "write", execute: () => "written" }),
];
/** What the record of a write costs: it is written before and after, so that nobody has to guess. */
export const ledger: Part = {
  name: "ledger",
  run: (bench) =>
    withOwned(async (own) => {
      const postgres = own(await startPostgres());
      const database = await openDatabase({
        url: await postgres.createDatabase(),
        dataDirectory: temporaryFolder("bench"),
      });
      own({ stop: database.close });
      await migrate(database);
      const service = await startTestRuns({
        database,
        tools,
        script({ messages }) {
          const last = messages.at(-1)!;
          return last.role === "tool" ? "Done." : [{ call: String(last.content), arguments: {} }];
        },
      });
      own({ stop: () => service.stop(0) });
      bench.log("ledger: SQL round trips");
      const runs = bench.quick ? 3 : 15;
      const trips = await inRounds(bench.rounds, ["read_it", "write_it"], async (subject) => {
        const counts: number[] = [];
        for (let run = 0; run < runs; run++) counts.push(await tripsOf(service, database, subject));
        // A poll in between may cost some one run a look more.
        return summarize(counts).median;
      });
      return [
        {
          part: "ledger",
          name: "SQL round trips of a run with one write through the ledger, against one read, postgres",
          unit: "",
          values: trips.write_it,
          reference: trips.read_it,
          bar: { kind: "added", max: 2 },
        },
      ];
    }),
};
