import { startPostgres } from "../../test/postgres.ts";
import { costPerAnswer, cpuOf, type Cost, type Metered } from "../cost.ts";
import { inRounds, startProxy, withOwned, type Bench, type Part } from "../part.ts";
import { meteredSettings, startPostgresMeter } from "../postgres-meter.ts";
import { startProduct } from "../product.ts";
import { askAgent, askModel } from "../requests.ts";
import type { Bar, Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";
import { summarize } from "../statistics.ts";
import { sumTools } from "../sum-tools.ts";

const burst: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const spread: Script = { ...burst, delay: 4 };
const paced: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 20 };
const reads: Script = { ...burst, rounds: 3 };
const write: Script = { ...burst, rounds: 1, writes: true };
const first: Script = { rounds: 0, parallel: 1, tokens: 3, delay: 5 };
/** One person's bench: the limit for each person would be what is measured. */
const config = { concurrency: { perUser: 600, perNode: 600 } };

const references = ["events", "reads", "merged", "merged-32", "merged-100", "bytes"] as const;
const products = ["postgres", "pglite"] as const;
type Reference = (typeof references)[number];
type Product = (typeof products)[number];
type Subject = Reference | Product;
type Subjects = Readonly<Record<Subject, Metered>>;

function isProduct(subject: Subject): subject is Product {
  return subject === "postgres" || subject === "pglite";
}

type Cell = {
  readonly name: string;
  readonly script: Script;
  readonly streams: number;
  readonly requests: number;
  /** What our figure is over that of the proxy that writes each event. */
  readonly bars: Partial<Record<Product, number>>;
  /** The proxy whose client counts about as many events as ours. */
  readonly alike?: Reference;
  /** Further proxies that are measured beside it; they call no tools, so those of cells with tools give the answer alone. */
  readonly scale?: readonly Reference[];
};

const cells: readonly Cell[] = [
  {
    name: "200 tokens in a burst, 32 at once",
    script: burst,
    streams: 32,
    requests: 256,
    bars: { postgres: 7, pglite: 9 },
    alike: "merged",
    scale: ["reads", "bytes"],
  },
  {
    name: "200 tokens at 4 ms, 32 at once",
    script: spread,
    streams: 32,
    requests: 64,
    bars: {},
    alike: "merged-32",
  },
  {
    name: "50 tokens at 20 ms, 512 streams",
    script: paced,
    streams: 512,
    requests: 512,
    bars: { postgres: 4 },
    alike: "merged-100",
    scale: ["bytes"],
  },
  {
    name: "3 rounds of a local read, then 200 tokens in a burst, 32 at once",
    script: reads,
    streams: 32,
    requests: 128,
    bars: {},
  },
  {
    name: "one ledgered write, then 200 tokens in a burst, 32 at once",
    script: write,
    streams: 32,
    requests: 128,
    bars: {},
  },
];

const asked: Readonly<Record<Reference, string>> = {
  events: "the proxy that writes each event",
  reads: "the proxy that writes once per read",
  merged: "the proxy that sends the text of a read as one event",
  "merged-32": "the proxy that sends the text of 32 ms as one event",
  "merged-100": "the proxy that sends the text of 100 ms as one event",
  bytes: "a pipe of bytes",
};

const withDatabase: Readonly<Record<Product, string>> = {
  postgres: "server + PostgreSQL",
  pglite: "server with PGlite",
};

function ask(subject: Subject, { server }: Metered, script: Script): ReturnType<typeof askModel> {
  // A proxy is asked for the answer that follows the tools.
  return isProduct(subject) ? askAgent(server, script) : askModel(server, { ...script, rounds: 0, writes: false });
}

function loadOf(bench: Bench, cell: Cell, subject: Subject, metered: Metered): LoadInput {
  const size = bench.quick ? { streams: 4, requests: 8 } : { streams: cell.streams, requests: cell.requests };
  return { ...ask(subject, metered, cell.script), ...size, milliseconds: Infinity };
}

async function measureCell(bench: Bench, cell: Cell, subjects: Subjects): Promise<Row[]> {
  bench.log(`durable: ${cell.name}`);
  const others: readonly Reference[] = [...(cell.alike ? [cell.alike] : []), ...(cell.scale ?? [])];
  const present: readonly Subject[] = ["events", ...others, ...products];
  const measure = (subject: Subject): Promise<Cost> =>
    costPerAnswer(bench, subjects[subject], loadOf(bench, cell, subject, subjects[subject]));
  if (!bench.quick) await inRounds(1, present, measure);
  const costs = (await inRounds(bench.rounds, present, measure)) as Readonly<Record<Subject, readonly Cost[]>>;
  const medianOf = (subject: Subject, key: keyof Cost): number =>
    summarize(costs[subject].map((cost) => cost[key])).median;
  const eventsOf = (subject: Subject): string => medianOf(subject, "events").toFixed(0);
  const against: readonly Reference[] = ["events", ...(cell.alike ? [cell.alike] : [])];
  const rows = products.flatMap((product) =>
    against.map((reference): Row => {
      const max = cell.bars[product];
      const bar: Bar | undefined = max === undefined ? undefined : { kind: "ratio", max };
      const parts = [
        `server ${medianOf(product, "serverMs").toFixed(1)}`,
        ...(product === "postgres" ? [`PostgreSQL ${medianOf(product, "postgresMs").toFixed(1)}`] : []),
      ];
      const events = `${eventsOf(product)} events, reference ${eventsOf(reference)}`;
      return {
        part: "durable",
        name: `CPU per run, ${cell.name}, ${withDatabase[product]}, against ${asked[reference]}`,
        unit: "ms",
        values: costs[product].map(cpuOf),
        reference: costs[reference].map(cpuOf),
        ...(bar && { bar }),
        note: `${parts.join(" + ")}; ${events}`,
      };
    }),
  );
  const scale = others.map((reference): Row => ({
    part: "durable",
    name: `for the scale: ${asked[reference]}, ${cell.name}`,
    unit: "ms",
    values: costs[reference].map(cpuOf),
    reference: costs.events.map(cpuOf),
    note: `${eventsOf(reference)} events`,
  }));
  return [...rows, ...scale];
}

async function measureFirstToken(bench: Bench, subjects: Subjects): Promise<Row[]> {
  bench.log("durable: time to first token");
  const present = ["events", ...products] as const;
  const times = await inRounds(bench.rounds, present, async (subject) => {
    const requests = bench.quick ? 5 : 40;
    const input: LoadInput = {
      ...ask(subject, subjects[subject], first),
      streams: 1,
      milliseconds: Infinity,
      requests,
    };
    return (await bench.load.call<LoadResult>("load", input)).firstToken.median;
  });
  return products.map((product) => ({
    part: "durable",
    name: `time to first token, one at a time, ${product}`,
    unit: "ms",
    values: times[product],
    reference: times.events,
    ...(product === "postgres" && { bar: { kind: "added", max: 20 } }),
  }));
}

/** An agent's run, stored, fenced, followed: what it costs the server and its database together. */
export const durable: Part = {
  name: "durable",
  run: (bench) =>
    withOwned(async (own) => {
      const { modelUrl } = bench;
      const scripts = [burst, spread, paced, reads, write, first];
      const postgres = own(await startPostgres({ fsync: true, settings: meteredSettings }));
      const meter = own(await startPostgresMeter(postgres.url));
      const proxy = async (kind: Reference): Promise<Metered> => ({ server: own(await startProxy(bench, kind)) });
      const product = async (databaseUrl?: string): Promise<Metered["server"]> =>
        own(
          await startProduct({
            modelUrl,
            scripts,
            config,
            ...sumTools,
            ...(databaseUrl !== undefined && { databaseUrl }),
          }),
        );
      const proxies = await Promise.all(references.map(async (kind) => [kind, await proxy(kind)] as const));
      const subjects: Subjects = {
        ...(Object.fromEntries(proxies) as Record<Reference, Metered>),
        postgres: { server: await product(await postgres.createDatabase()), meter },
        pglite: { server: await product() },
      };
      const rows: Row[] = [];
      for (const cell of cells) rows.push(...(await measureCell(bench, cell, subjects)));
      return [...rows, ...(await measureFirstToken(bench, subjects))];
    }),
};
