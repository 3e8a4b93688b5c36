import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { idleCost, type Cost } from "../cost.ts";
import { withOwned, type Part } from "../part.ts";
import { countedSettings, startPostgresMeter } from "../postgres-meter.ts";
import { startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Script } from "../script.ts";
import type { LoadInput } from "../sse-load.ts";

const script: Script = { rounds: 0, parallel: 1, tokens: 20, delay: 0 };

/** What a server costs that nobody asks, after it has had something to do; on PostgreSQL with all of its processes. */
export const idle: Part = {
  name: "idle",
  run: (bench) =>
    withOwned(async (own) => {
      const { modelUrl } = bench;
      const postgres = own(await startPostgres({ fsync: true, settings: countedSettings }));
      const meter = own(await startPostgresMeter(postgres.url));
      const databaseUrl = await postgres.createDatabase();
      const served = { server: own(await startProduct({ modelUrl, scripts: [script], databaseUrl })), meter };
      const embedded = { server: own(await startProduct({ modelUrl, scripts: [script] })) };
      for (const { server } of [served, embedded]) {
        const load: LoadInput = { ...askAgent(server, script), streams: 4, milliseconds: Infinity, requests: 20 };
        await bench.load.call("load", load);
      }
      // Until what follows a start and a run is over.
      await sleep(bench.quick ? 100 : 35_000);
      const onPostgres: Cost[] = [];
      const onPglite: Cost[] = [];
      const milliseconds = bench.quick ? 500 : 15_000;
      for (let round = 0; round < bench.rounds; round++) {
        bench.log(`idle: round ${round + 1}`);
        // Both over the same stretch of time, so that whatever else the machine does meets both.
        const [one, other] = await Promise.all([idleCost(served, milliseconds), idleCost(embedded, milliseconds)]);
        onPostgres.push(one);
        onPglite.push(other);
      }
      const part = "idle";
      const percent = (ms: number): number => ms / 10;
      return [
        {
          part,
          name: "statements a second that PostgreSQL counts, with those inside of functions, nobody asking",
          unit: "1/s",
          values: onPostgres.map(({ statements }) => statements),
          bar: { kind: "value", max: 3 },
        },
        {
          part,
          name: "CPU of server and PostgreSQL, nobody asking",
          unit: "% of a core",
          values: onPostgres.map(({ serverMs, postgresMs }) => percent(serverMs + postgresMs)),
          bar: { kind: "value", max: 0.5 },
        },
        {
          part,
          name: "of it PostgreSQL's",
          unit: "% of a core",
          values: onPostgres.map(({ postgresMs }) => percent(postgresMs)),
        },
        {
          part,
          name: "CPU of the server on PGlite, nobody asking",
          unit: "% of a core",
          values: onPglite.map(({ serverMs }) => percent(serverMs)),
        },
      ];
    }),
};
