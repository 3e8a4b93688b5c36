import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../../test/postgres.ts";
import { startChild, type Child } from "../child.ts";
import { costPerAnswer, idleCost, type Cost, type Metered } from "../cost.ts";
import { inRounds, withOwned, type Bench, type Part, type Server } from "../part.ts";
import { countedSettings, startPostgresMeter, type PostgresMeter } from "../postgres-meter.ts";
import { startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Bar, Row } from "../rows.ts";
import type { Script } from "../script.ts";
import { startSqlRelay, type SqlRelay, type SqlTrip } from "../sql-relay.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";
import { sumTools } from "../sum-tools.ts";

/** One person's bench: the limit for each person would be what is measured. */
const config = { concurrency: { perUser: 256, perNode: 256 } };
const toolRounds = 16;
const plain: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const kinds = ["plain", "reads", "writes"] as const;
type Kind = (typeof kinds)[number];
const scripts: Readonly<Record<Kind, Script>> = {
  plain,
  reads: { ...plain, rounds: toolRounds },
  writes: { ...plain, rounds: toolRounds, writes: true },
};

/** A run without tools, and what one round of calls adds to it. */
type Split<Value> = { readonly run: Value; readonly read: Value; readonly write: Value };

function split(of: Readonly<Record<Kind, number>>): Split<number> {
  const round = (kind: Kind): number => (of[kind] - of.plain) / toolRounds;
  return { run: of.plain, read: round("reads"), write: round("writes") };
}

type Wire = { readonly trips: number; readonly statements: number };

async function ask(bench: Bench, server: Server, script: Script, requests: number): Promise<LoadResult> {
  const input: LoadInput = { ...askAgent(server, script), streams: 1, milliseconds: Infinity, requests };
  const result = await bench.load.call<LoadResult>("load", input);
  // What a run leaves to write after its answer is part of it.
  await sleep(400);
  return result;
}

/** How many statements were sent by trips of a text, its white space made even; one trip may be of several. */
function counted(trips: readonly SqlTrip[]): Map<string, Wire> {
  const counts = new Map<string, Wire>();
  for (const { text, statements } of trips) {
    const key = text.replace(/\s+/g, " ").trim();
    const known = counts.get(key) ?? { trips: 0, statements: 0 };
    counts.set(key, { trips: known.trips + 1, statements: known.statements + statements });
  }
  return counts;
}

/** Of one run, runs one after the other; what an idle server sends in the same time is taken off, by its text. */
async function wireOf(bench: Bench, server: Server, relay: SqlRelay, kind: Kind): Promise<Wire> {
  const runs = bench.quick ? 3 : kind === "plain" ? 40 : 8;
  const idleMs = bench.quick ? 1000 : 5000;
  await sleep(500);
  relay.takeTrips();
  await sleep(idleMs);
  const idle = counted(relay.takeTrips());
  const began = performance.now();
  await ask(bench, server, scripts[kind], runs);
  const share = (performance.now() - began) / idleMs;
  const wire = { trips: 0, statements: 0 };
  for (const [text, sent] of counted(relay.takeTrips())) {
    const trips = Math.max(0, sent.trips - (idle.get(text)?.trips ?? 0) * share) / runs;
    wire.trips += trips;
    wire.statements += trips * (sent.statements / sent.trips);
    if (trips >= 0.05) bench.log(`  ${kind} ${trips.toFixed(2)}  ${text.slice(0, 160)}`);
  }
  return wire;
}

const silent = { log: () => {} };

async function measureWire(bench: Bench, databaseUrl: string): Promise<readonly Readonly<Record<Kind, Wire>>[]> {
  return withOwned(async (own) => {
    const relay = own(await startSqlRelay(databaseUrl));
    const { modelUrl } = bench;
    const server = own(
      await startProduct({ modelUrl, scripts: Object.values(scripts), config, ...sumTools, databaseUrl: relay.url }),
    );
    for (const kind of kinds) await ask(bench, server, scripts[kind], 3);
    bench.log("write-path: round trips and statements on the wire");
    const rounds = Math.min(bench.rounds, 3);
    let first = true;
    const values = await inRounds(rounds, kinds, async (kind) => {
      const wire = await wireOf(first ? bench : { ...bench, ...silent }, server, relay, kind);
      if (kind === "reads") first = false;
      return wire;
    });
    return Array.from({ length: rounds }, (_, round) => ({
      plain: values.plain[round]!,
      reads: values.reads[round]!,
      writes: values.writes[round]!,
    }));
  });
}

/** Bytes of JSON in the items that a round of calls leaves. */
async function bytesOfRound(bench: Bench, server: Server, databaseUrl: string): Promise<number> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const bytes = async (): Promise<number> => {
    const { rows } = await client.query<{ bytes: number }>(
      "select coalesce(sum(octet_length(body::text)), 0)::float8 as bytes from items",
    );
    return rows[0]?.bytes ?? NaN;
  };
  const before = await bytes();
  await ask(bench, server, scripts.plain, 1);
  const afterPlain = await bytes();
  await ask(bench, server, scripts.reads, 1);
  const afterReads = await bytes();
  await client.end();
  return Math.round((afterReads - afterPlain - (afterPlain - before)) / toolRounds);
}

type Costs = Readonly<Record<Kind | "insert", readonly Cost[]>> & { readonly bytes: number };

async function insertCost(bench: Bench, child: Child, meter: PostgresMeter, bytes: number): Promise<Cost> {
  const count = bench.quick ? 50 : 3000;
  const before = await meter.read();
  await child.call("insert", { count, bytes });
  const after = await meter.read();
  await child.call("check");
  return {
    serverMs: 0,
    events: 0,
    postgresMs: (after.cpuMs - before.cpuMs) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
    statements: (after.statements - before.statements) / count,
  };
}

async function measureCosts(bench: Bench): Promise<Costs> {
  return withOwned(async (own) => {
    const { modelUrl } = bench;
    // A server of its own for each side, so that neither pays for what the other does by the clock.
    const postgres = own(await startPostgres({ fsync: true, settings: countedSettings }));
    const meter = own(await startPostgresMeter(postgres.url));
    const rawPostgres = own(await startPostgres({ fsync: true, settings: countedSettings }));
    const rawMeter = own(await startPostgresMeter(rawPostgres.url));
    const databaseUrl = await postgres.createDatabase();
    const server = own(
      await startProduct({ modelUrl, scripts: Object.values(scripts), config, ...sumTools, databaseUrl }),
    );
    const inserter = own(await startChild("raw-inserter.ts", { args: [await rawPostgres.createDatabase()] }));
    const metered: Metered = { server, meter };
    const load = (kind: Kind, requests: number): LoadInput => ({
      ...askAgent(server, scripts[kind]),
      streams: 16,
      milliseconds: Infinity,
      requests,
    });
    for (const kind of kinds) await bench.load.call("load", load(kind, bench.quick ? 4 : 64));
    const bytes = await bytesOfRound(bench, server, databaseUrl);
    await insertCost(bench, inserter, rawMeter, bytes);
    const idle = await idleCost(metered, bench.quick ? 500 : 10_000);
    bench.log(`write-path: PostgreSQL's CPU, WAL and statements; a round leaves ${bytes} bytes of JSON`);
    const values = await inRounds(bench.rounds, [...kinds, "insert"] as const, (subject) =>
      subject === "insert"
        ? insertCost(bench, inserter, rawMeter, bytes)
        : costPerAnswer(bench, metered, load(subject, bench.quick ? 4 : subject === "plain" ? 240 : 48), idle),
    );
    return { ...values, bytes };
  });
}

function splitCosts(costs: Costs, key: keyof Cost): Split<readonly number[]> {
  const rounds = costs.plain.map((_, round) =>
    split({
      plain: costs.plain[round]![key],
      reads: costs.reads[round]![key],
      writes: costs.writes[round]![key],
    }),
  );
  return {
    run: rounds.map(({ run }) => run),
    read: rounds.map(({ read }) => read),
    write: rounds.map(({ write }) => write),
  };
}

const names: Readonly<Record<keyof Split<unknown>, string>> = {
  run: "a run without tools, 200 tokens",
  read: "a round of one local read",
  write: "a round of one ledgered write",
};

const atMost = (max: number): Bar => ({ kind: "value", max });

function rowsOf(
  what: string,
  unit: string,
  values: Split<readonly number[]>,
  bars: Partial<Split<Bar>>,
  reference?: readonly number[],
): Row[] {
  return (["run", "read", "write"] as const).map((key): Row => {
    const bar = bars[key];
    const compared = key !== "run" && reference !== undefined;
    return {
      part: "write-path",
      name: `${what}: ${names[key]}${compared ? ", against a raw INSERT of as many bytes" : ""}`,
      unit,
      values: values[key],
      ...(compared && { reference }),
      ...(bar && { bar }),
    };
  });
}

/** What a durable run and a round of tools ask of PostgreSQL: trips, statements, WAL, CPU. */
export const writePath: Part = {
  name: "write-path",
  run: async (bench) => {
    const costs = await measureCosts(bench);
    const wire = await withOwned(async (own) => {
      const postgres = own(await startPostgres({ fsync: true }));
      return measureWire(bench, await postgres.createDatabase());
    });
    const splitWire = (key: keyof Wire): Split<readonly number[]> => {
      const rounds = wire.map(({ plain: run, reads, writes }) =>
        split({ plain: run[key], reads: reads[key], writes: writes[key] }),
      );
      return {
        run: rounds.map(({ run }) => run),
        read: rounds.map(({ read }) => read),
        write: rounds.map(({ write }) => write),
      };
    };
    const kilobytes = (bytes: readonly number[]): number[] => bytes.map((value) => value / 1000);
    const wal = splitCosts(costs, "walBytes");
    const insert = <Key extends keyof Cost>(key: Key): number[] => costs.insert.map((cost) => cost[key]);
    return [
      ...rowsOf("round trips", "", splitWire("trips"), { run: atMost(8) }),
      ...rowsOf("statements on the wire", "", splitWire("statements"), { run: atMost(8), read: atMost(2) }),
      ...rowsOf("statements that PostgreSQL counts", "", splitCosts(costs, "statements"), {}),
      ...rowsOf(
        "WAL",
        "kB",
        { run: kilobytes(wal.run), read: kilobytes(wal.read), write: kilobytes(wal.write) },
        { run: atMost(5), read: atMost(1.8) },
        kilobytes(insert("walBytes")),
      ),
      ...rowsOf(
        "PostgreSQL's CPU, 16 at once",
        "ms",
        splitCosts(costs, "postgresMs"),
        { read: { kind: "ratio", max: 3 } },
        insert("postgresMs"),
      ),
      ...rowsOf("the server's CPU, 16 at once", "ms", splitCosts(costs, "serverMs"), {}),
    ];
  },
};
