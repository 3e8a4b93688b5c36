import { startPostgres } from "../../test/postgres.ts";
import { withOwned, type Bench, type Part, type Server } from "../part.ts";
import { startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Script } from "../script.ts";
import { startSqlRelay, type SqlRelay } from "../sql-relay.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const config = { concurrency: { perUser: 256, perNode: 256 } };

/** Statements a second that store the text of live streams, while so many run. */
async function deltaRate(
  bench: Bench,
  server: Server,
  relay: SqlRelay,
  options: { script: Script; streams: number },
): Promise<number> {
  relay.take();
  const input: LoadInput = { ...askAgent(server, options.script), streams: options.streams, milliseconds: 0 };
  const { milliseconds } = await bench.load.call<LoadResult>("load", input);
  const stored = relay.take().filter((text) => /insert\s+into\s+"?deltas\b/i.test(text));
  return stored.length / (milliseconds / 1000);
}

/** While answers stream slowly, their text is stored by one statement per node and interval, however many runs there are. */
export const deltas: Part = {
  name: "deltas",
  run: (bench) =>
    withOwned(async (own) => {
      const script: Script = { rounds: 0, parallel: 1, tokens: bench.quick ? 50 : 150, delay: 20 };
      const postgres = own(await startPostgres({ fsync: true }));
      const relay = own(await startSqlRelay(await postgres.createDatabase()));
      const server = own(
        await startProduct({ modelUrl: bench.modelUrl, scripts: [script], config, databaseUrl: relay.url }),
      );
      await deltaRate(bench, server, relay, { script, streams: 1 });
      const few: number[] = [];
      const many: number[] = [];
      for (let round = 0; round < Math.min(bench.rounds, 3); round++) {
        bench.log(`deltas: round ${round + 1}`);
        few.push(await deltaRate(bench, server, relay, { script, streams: 4 }));
        many.push(await deltaRate(bench, server, relay, { script, streams: 64 }));
      }
      return [
        {
          part: "deltas",
          name: "statements a second that store live text, 64 runs against 4",
          unit: "1/s",
          values: many,
          reference: few,
          bar: { kind: "ratio", max: 1.2 },
        },
        {
          part: "deltas",
          name: "the same, 64 runs (one each 100 ms)",
          unit: "1/s",
          values: many,
          bar: { kind: "value", max: 11 },
        },
      ];
    }),
};
