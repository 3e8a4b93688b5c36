import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { inRounds, startProxy, withOwned, type Bench, type Part, type Server } from "../part.ts";
import type { Usage } from "../probe.ts";
import { startProduct } from "../product.ts";
import { askAgent, askModel } from "../requests.ts";
import type { Row } from "../rows.ts";
import type { Script } from "../script.ts";
import { startSqlRelay, type SqlRelay } from "../sql-relay.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const burst: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const first: Script = { rounds: 0, parallel: 1, tokens: 3, delay: 5 };
/** One person's bench: the limit for each person would be what is measured. */
const config = { concurrency: { perUser: 256, perNode: 256 } };

type Subject = "proxy" | "product";
const subjects: readonly Subject[] = ["proxy", "product"];

function ask(subject: Subject, server: Server, script: Script): ReturnType<typeof askModel> {
  return subject === "proxy" ? askModel(server, script) : askAgent(server, script);
}

async function measureSpeed(bench: Bench, servers: Readonly<Record<Subject, Server>>): Promise<Row[]> {
  const load = (
    subject: Subject,
    script: Script,
    rest: Pick<LoadInput, "streams" | "milliseconds" | "requests">,
  ): Promise<LoadResult> => bench.load.call<LoadResult>("load", { ...ask(subject, servers[subject], script), ...rest });
  for (const subject of subjects) await load(subject, burst, { streams: 16, milliseconds: bench.quick ? 100 : 2500 });
  bench.log("durable: CPU per run");
  const cpu = await inRounds(bench.rounds, subjects, async (subject) => {
    const { child } = servers[subject];
    const before = await child.call<Usage>("usage");
    const { done } = await load(subject, burst, { streams: 32, milliseconds: bench.quick ? 100 : 1500 });
    return ((await child.call<Usage>("usage")).cpuMs - before.cpuMs) / done;
  });
  bench.log("durable: time to first token");
  const firstToken = await inRounds(bench.rounds, subjects, async (subject) => {
    const result = await load(subject, first, { streams: 1, milliseconds: Infinity, requests: bench.quick ? 5 : 40 });
    return result.firstToken.median;
  });
  const part = "durable";
  return [
    {
      part,
      name: "CPU per run, 200 tokens in a burst, 32 at once, postgres",
      unit: "ms",
      values: cpu.product,
      reference: cpu.proxy,
      bar: { kind: "ratio", max: 7 },
    },
    {
      part,
      name: "time to first token, one at a time, postgres",
      unit: "ms",
      values: firstToken.product,
      reference: firstToken.proxy,
      bar: { kind: "added", max: 20 },
    },
  ];
}

/** How often each statement was sent, its white space made even. */
function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const key = text.replace(/\s+/g, " ").trim();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

type Trips = { readonly perRun: number; readonly byStatement: ReadonlyMap<string, number> };

/** Round trips of one run, runs one after the other; what an idle server sends in the same time is taken off by statement. */
async function tripsPerRun(bench: Bench, server: Server, relay: SqlRelay): Promise<Trips> {
  const runs = bench.quick ? 5 : 40;
  const idleMs = bench.quick ? 1500 : 5000;
  await sleep(500);
  relay.take();
  await sleep(idleMs);
  const idle = counted(relay.take());
  const input: LoadInput = { ...askAgent(server, burst), streams: 1, milliseconds: Infinity, requests: runs };
  const started = performance.now();
  await bench.load.call<LoadResult>("load", input);
  // What a run leaves to write after its answer is part of it.
  await sleep(300);
  const share = (performance.now() - started) / idleMs;
  const byStatement = new Map<string, number>();
  for (const [text, count] of counted(relay.take())) {
    byStatement.set(text, Math.max(0, count - (idle.get(text) ?? 0) * share) / runs);
  }
  return { perRun: [...byStatement.values()].reduce((sum, count) => sum + count, 0), byStatement };
}

async function measureTrips(bench: Bench, server: Server, relay: SqlRelay): Promise<Row> {
  bench.log("durable: SQL round trips");
  const values: number[] = [];
  for (let round = 0; round < Math.min(bench.rounds, 3); round++) {
    const trips = await tripsPerRun(bench, server, relay);
    values.push(trips.perRun);
    if (round > 0) continue;
    for (const [text, count] of trips.byStatement)
      if (count >= 0.05) bench.log(`  ${count.toFixed(2)}  ${text.slice(0, 160)}`);
  }
  return {
    part: "durable",
    name: "SQL round trips of a run without tools, new thread",
    unit: "",
    values,
    bar: { kind: "value", max: 16 },
  };
}

/** An agent's run on PostgreSQL: stored, fenced, followed. */
export const durable: Part = {
  name: "durable",
  run: (bench) =>
    withOwned(async (own) => {
      const { modelUrl } = bench;
      const scripts = [burst, first];
      const postgres = own(await startPostgres({ fsync: true }));
      const proxy = own(await startProxy(bench));
      const product = own(
        await startProduct({ modelUrl, scripts, config, databaseUrl: await postgres.createDatabase() }),
      );
      const rows = await measureSpeed(bench, { proxy, product });
      await product.stop();
      const relay = own(await startSqlRelay(await postgres.createDatabase()));
      const relayed = own(await startProduct({ modelUrl, scripts, config, databaseUrl: relay.url }));
      await bench.load.call("load", {
        ...askAgent(relayed, burst),
        streams: 1,
        milliseconds: Infinity,
        requests: 5,
      } satisfies LoadInput);
      return [...rows, await measureTrips(bench, relayed, relay)];
    }),
};
