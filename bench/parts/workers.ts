import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { inRounds, withOwned, type Bench, type Part, type Server } from "../part.ts";
import { meteredSettings, startPostgresMeter, type PostgresMeter } from "../postgres-meter.ts";
import { useOfTree } from "../process-tree.ts";
import { startProduct } from "../product.ts";
import { askAgent, askModel } from "../requests.ts";
import type { Bar, Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const burst: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const paced: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 20 };
const warmRounds = 4;

type Kind = { readonly name: string; readonly ask: typeof askModel; readonly script: Script; readonly streams: number };
// Few enough for one process to keep up: one that can't handles more of them at once, which is cheaper for each, and slower.
const kinds: readonly Kind[] = [
  { name: "a model asked, 200 tokens in a burst, 64 streams", ask: askModel, script: burst, streams: 64 },
  { name: "a model asked, 50 tokens at 20 ms, 128 streams", ask: askModel, script: paced, streams: 128 },
  { name: "a durable run, 200 tokens in a burst, 32 streams", ask: askAgent, script: burst, streams: 32 },
  { name: "a durable run, 50 tokens at 20 ms, 128 streams", ask: askAgent, script: paced, streams: 128 },
];

const bar: Bar = { kind: "ratio", max: 1.1 };

/** Whether a process gathers the text of its runs the longer the more of them it tells of (src/run/log/pace.ts). */
function isSparser({ ask, script }: Kind): boolean {
  return ask === askAgent && script === paced;
}

type Subject = { readonly server: Server; readonly meter: PostgresMeter; readonly pid: number };
type Cost = {
  readonly serverMs: number;
  readonly postgresMs: number;
  /** Of the server's processes, for each event that a client got: the fewer runs a process has, the sooner it tells of each. */
  readonly perEventMs: number;
};

async function costPerStream(bench: Bench, subject: Subject, { ask, script, streams }: Kind): Promise<Cost> {
  const { server, meter, pid } = subject;
  const use = async () => ({ server: useOfTree(pid, "serve").cpuMs, postgres: (await meter.read()).cpuMs });
  const before = await use();
  const input: LoadInput = {
    ...ask(server, script),
    streams: bench.quick ? 8 : streams,
    milliseconds: bench.quick ? 100 : 2500,
  };
  const { done, events } = await bench.load.call<LoadResult>("load", input);
  // What is written in batches behind the answers.
  await sleep(400);
  const after = await use();
  const serverMs = after.server - before.server;
  return {
    serverMs: serverMs / done,
    postgresMs: (after.postgres - before.postgres) / done,
    perEventMs: serverMs / events,
  };
}

/** One worker and two of a server on PostgreSQL, under the same load: all of the server's processes together. */
export const workers: Part = {
  name: "workers",
  run: (bench) =>
    withOwned(async (own) => {
      const start = async (count: number): Promise<Subject> => {
        const postgres = own(await startPostgres({ fsync: true, settings: meteredSettings }));
        const meter = own(await startPostgresMeter(postgres.url));
        const server = own(
          await startProduct({
            modelUrl: bench.modelUrl,
            scripts: [burst, paced],
            databaseUrl: await postgres.createDatabase(),
            // All of the load at once on one worker, as on two.
            config: { concurrency: { perUser: 256, perNode: 256 } },
            workers: count,
          }),
        );
        return { server, meter, pid: server.child.pid };
      };
      const subjects = { one: await start(1), two: await start(2) };
      const names = ["one", "two"] as const;
      // Until the other worker serves too, and code is compiled.
      await sleep(bench.quick ? 0 : 8000);
      const rows: Row[] = [];
      for (const kind of kinds) {
        bench.log(`workers: ${kind.name}`);
        for (let round = 0; round < (bench.quick ? 0 : warmRounds); round++)
          // Each of two workers gets half of the requests that make one's code fast.
          for (const name of ["one", "two", "two"] as const) await costPerStream(bench, subjects[name], kind);
        const costs = await inRounds(bench.rounds, names, (name) => costPerStream(bench, subjects[name], kind));
        const of = (name: keyof typeof subjects, key: keyof Cost) => costs[name].map((cost) => cost[key]);
        const add = (what: string, key: keyof Cost, bar?: Bar) =>
          rows.push({
            part: "workers",
            name: `${what}: ${kind.name}, 2 workers, against one`,
            unit: "ms",
            values: of("two", key),
            reference: of("one", key),
            ...(bar && { bar }),
          });
        add("server's CPU per stream", "serverMs", isSparser(kind) ? undefined : bar);
        if (isSparser(kind)) add("server's CPU per event", "perEventMs", bar);
        if (kind.ask === askAgent) add("PostgreSQL's CPU per stream", "postgresMs");
      }
      return rows;
    }),
};
