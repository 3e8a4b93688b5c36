import { inRounds, startProxy, withOwned, type Bench, type Part, type Server } from "../part.ts";
import { startPostgres } from "../../test/postgres.ts";
import type { Usage } from "../probe.ts";
import { startProduct } from "../product.ts";
import type { Bar, Row } from "../rows.ts";
import { askModel } from "../requests.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

type Subject = "proxy" | "pglite" | "postgres";
const subjects: readonly Subject[] = ["proxy", "pglite", "postgres"];

const burst: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const paced: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 20 };
/** The first of three tokens comes at once. */
const first: Script = { rounds: 0, parallel: 1, tokens: 3, delay: 5 };

type Cell = {
  readonly name: string;
  readonly script: Script;
  readonly streams: number;
  readonly milliseconds: number;
  readonly max: number;
};

const warmRounds = 3;

function cellsOf(quick: boolean): readonly Cell[] {
  const name = "50 tokens at 20 ms";
  if (quick) {
    return [
      { name: "200 tokens in a burst, 64 streams", script: burst, streams: 64, milliseconds: 100, max: 2 },
      { name: `${name}, 64 streams`, script: paced, streams: 64, milliseconds: 0, max: 1.4 },
    ];
  }
  // Paced streams ask twice, so that what is written in batches afterwards falls into the time measured.
  return [
    { name: "200 tokens in a burst, 64 streams", script: burst, streams: 64, milliseconds: 1000, max: 2 },
    { name: `${name}, 64 streams`, script: paced, streams: 64, milliseconds: 1200, max: 1.4 },
    { name: `${name}, 512 streams`, script: paced, streams: 512, milliseconds: 1200, max: 1.4 },
  ];
}

async function cpuPerStream(bench: Bench, server: Server, cell: Cell): Promise<number> {
  const before = await server.child.call<Usage>("usage");
  const input: LoadInput = { ...askModel(server, cell.script), streams: cell.streams, milliseconds: cell.milliseconds };
  const { done } = await bench.load.call<LoadResult>("load", input);
  const after = await server.child.call<Usage>("usage");
  return (after.cpuMs - before.cpuMs) / done;
}

async function firstTokenMs(bench: Bench, server: Server): Promise<number> {
  const requests = bench.quick ? 5 : 60;
  const input: LoadInput = { ...askModel(server, first), streams: 1, milliseconds: Infinity, requests };
  return (await bench.load.call<LoadResult>("load", input)).firstToken.median;
}

async function measure(bench: Bench, servers: Readonly<Record<Subject, Server>>): Promise<Row[]> {
  for (const subject of subjects) {
    const warm: LoadInput = {
      ...askModel(servers[subject], burst),
      streams: 16,
      milliseconds: bench.quick ? 100 : 1500,
    };
    await bench.load.call("load", warm);
  }
  const rows: Row[] = [];
  const addRows = (name: string, bar: Bar, values: Readonly<Record<Subject, readonly number[]>>): void => {
    for (const subject of ["pglite", "postgres"] as const) {
      rows.push({
        part: "passthrough",
        name: `${name}, ${subject}`,
        unit: "ms",
        values: values[subject],
        reference: values.proxy,
        bar,
      });
    }
  };
  for (const cell of cellsOf(bench.quick)) {
    bench.log(`passthrough: ${cell.name}`);
    // Until its code is compiled, each round costs less than the one before.
    for (let round = 0; round < (bench.quick ? 0 : warmRounds); round++)
      for (const subject of subjects) await cpuPerStream(bench, servers[subject], cell);
    const values = await inRounds(bench.rounds, subjects, (subject) => cpuPerStream(bench, servers[subject], cell));
    addRows(`CPU per stream, ${cell.name}`, { kind: "ratio", max: cell.max }, values);
  }
  bench.log("passthrough: time to first token");
  const values = await inRounds(bench.rounds, subjects, (subject) => firstTokenMs(bench, servers[subject]));
  addRows("time to first token, one at a time", { kind: "added", max: 2 }, values);
  return rows;
}

/** A model asked through the server, against a proxy on bare node:http, on both databases. */
export const passthrough: Part = {
  name: "passthrough",
  run: (bench) =>
    withOwned(async (own) => {
      const { modelUrl } = bench;
      const scripts = [burst, paced, first];
      const proxy = own(await startProxy(bench));
      const postgres = own(await startPostgres({ fsync: true }));
      const onPglite = own(await startProduct({ modelUrl, scripts }));
      const onPostgres = own(await startProduct({ modelUrl, scripts, databaseUrl: await postgres.createDatabase() }));
      return measure(bench, { proxy, pglite: onPglite, postgres: onPostgres });
    }),
};
