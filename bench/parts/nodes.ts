import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../../test/postgres.ts";
import { inRounds, withOwned, type Bench, type Part, type Server } from "../part.ts";
import { countedSettings, startPostgresMeter, type PostgresMeter } from "../postgres-meter.ts";
import { startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput } from "../sse-load.ts";

const script: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 10 };
const streaming: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 20 };
/** Each node has places for all, so that who takes a run is theirs to settle. */
const config = { concurrency: { perUser: 256, perNode: 64 } };
const streams = 32;
/** What a node sends to see whether there is a job for it, and to take it. */
const look = String.raw`from claim_runs\(`;

type Cluster = {
  readonly nodes: readonly Server[];
  readonly meter: PostgresMeter;
  /** Of its database. */
  readonly client: pg.Client;
};

type Measured = {
  readonly postgresMs: number;
  readonly waitMs: number;
  readonly waitP95Ms: number;
  readonly busiest: number;
  readonly looks: number;
};

async function startCluster(
  bench: Bench,
  own: <Owned extends { stop(): Promise<void> }>(owned: Owned) => Owned,
  count: number,
): Promise<Cluster> {
  const postgres = own(await startPostgres({ fsync: true, settings: countedSettings }));
  const meter = own(await startPostgresMeter(postgres.url));
  const databaseUrl = await postgres.createDatabase();
  const scripts = [script, streaming];
  const secret = randomBytes(32).toString("hex");
  const nodes: Server[] = [];
  // One after the other, as the first makes the tables.
  for (let node = 0; node < count; node++)
    nodes.push(own(await startProduct({ modelUrl: bench.modelUrl, scripts, config, databaseUrl, secret })));
  const client = new pg.Client(databaseUrl);
  await client.connect();
  own({ stop: () => client.end() });
  return { nodes, meter, client };
}

/** The same number of streams and runs, however many nodes share them; each node is asked for as many. */
async function loadAll(bench: Bench, nodes: readonly Server[], runs: number): Promise<number> {
  await Promise.all(
    nodes.map((node) =>
      bench.load.call("load", {
        ...askAgent(node, script),
        streams: Math.max(1, (bench.quick ? 8 : streams) / nodes.length),
        milliseconds: Infinity,
        requests: runs / nodes.length,
      } satisfies LoadInput),
    ),
  );
  return runs;
}

/** Looks a second while the runs of one node stream and nobody asks for more. */
async function measureLooks(bench: Bench, { nodes: [first], meter }: Cluster): Promise<number> {
  const load = bench.load.call("load", {
    ...askAgent(first!, bench.quick ? script : streaming),
    streams: bench.quick ? 2 : streams,
    milliseconds: 0,
  } satisfies LoadInput);
  // Past the looks that take the runs.
  await sleep(bench.quick ? 50 : 1000);
  const milliseconds = bench.quick ? 200 : 2500;
  const before = await meter.calls(look);
  await sleep(milliseconds);
  const sent = (await meter.calls(look)) - before;
  if (before === 0)
    throw new Error("No look for a job was counted: its statement is another one than the pattern says.");
  await load;
  return sent / (milliseconds / 1000);
}

async function measure(bench: Bench, cluster: Cluster): Promise<Measured> {
  const { client, meter, nodes } = cluster;
  const { rows: starts } = await client.query<{ at: string }>("select clock_timestamp()::text as at");
  const before = await meter.read();
  const runs = await loadAll(bench, nodes, bench.quick ? 16 : 256);
  const after = await meter.read();
  const { rows } = await client.query<{ node: string; runs: number }>(
    "select node, count(*)::integer as runs from runs where created_at >= $1::timestamptz group by node",
    [starts[0]?.at],
  );
  const { rows: waits } = await client.query<{ median: number; p95: number }>(
    `select percentile_cont(0.5) within group (order by ms) as median, percentile_cont(0.95) within group (order by ms) as p95
     from (select extract(epoch from started_at - created_at)::float8 * 1000 as ms from runs where created_at >= $1::timestamptz) as w`,
    [starts[0]?.at],
  );
  const counted = rows.reduce((sum, row) => sum + row.runs, 0);
  if (counted !== runs) throw new Error(`${counted} runs are stored instead of ${runs}`);
  return {
    postgresMs: (after.cpuMs - before.cpuMs) / runs,
    waitMs: waits[0]?.median ?? NaN,
    waitP95Ms: waits[0]?.p95 ?? NaN,
    busiest: Math.max(...rows.map((row) => row.runs)) / runs,
    looks: await measureLooks(bench, cluster),
  };
}

/** 1, 2, 4 and 8 nodes on one PostgreSQL, with the same streams for all of them together. */
export const nodes: Part = {
  name: "nodes",
  run: (bench) =>
    withOwned(async (own) => {
      const counts = bench.quick ? [1, 2] : [1, 2, 4, 8];
      const names = counts.map(String);
      const clusters = new Map<string, Cluster>();
      for (const count of counts) {
        bench.log(`nodes: starting ${count}`);
        const cluster = await startCluster(bench, own, count);
        clusters.set(String(count), cluster);
        await loadAll(bench, cluster.nodes, bench.quick ? 8 : 128);
      }
      bench.log("nodes: the same load on each");
      const measured = await inRounds(bench.rounds, names, (name) => measure(bench, clusters.get(name)!));
      const of = (name: string, key: keyof Measured): number[] => measured[name]!.map((one) => one[key]);
      const rows: Row[] = [];
      for (const count of counts) {
        const name = String(count);
        const nodesText = `${count} ${count === 1 ? "node" : "nodes"}`;
        const one = count === 1 ? undefined : { reference: of("1", "postgresMs") };
        rows.push(
          {
            part: "nodes",
            name: `PostgreSQL's CPU per run, ${streams} streams in all, ${nodesText}${one ? ", against one" : ""}`,
            unit: "ms",
            values: of(name, "postgresMs"),
            ...(one && { ...one, bar: { kind: "ratio", max: 1.3 } }),
          },
          {
            part: "nodes",
            name: `wait per run until a node takes it, ${nodesText}`,
            unit: "ms",
            values: of(name, "waitMs"),
          },
          { part: "nodes", name: `the same, 95 of 100`, unit: "ms", values: of(name, "waitP95Ms") },
          {
            part: "nodes",
            name: `looks for jobs while one node's runs stream, ${nodesText}`,
            unit: "1/s",
            values: of(name, "looks"),
          },
          ...(count === 1
            ? []
            : [
                {
                  part: "nodes",
                  name: `runs of the busiest of ${nodesText}, against an even share`,
                  unit: "% of all",
                  values: of(name, "busiest").map((share) => share * 100),
                  reference: of(name, "busiest").map(() => 100 / count),
                },
              ]),
        );
      }
      return rows;
    }),
};
