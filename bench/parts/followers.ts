import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { startTestRuns, type TestRuns } from "../../test/runs.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { createClient } from "../../src/client/client.ts";
import { type Child, startChild } from "../child.ts";
import type { Usage } from "../probe.ts";
import { agentOf, startProduct } from "../product.ts";
import type { Script } from "../script.ts";
import { withOwned, type Bench, type Part } from "../part.ts";
import type { Row } from "../rows.ts";
import { startSqlRelay, type SqlRelay } from "../sql-relay.ts";

/** A fast model. What a slower one writes costs more for each character, since a notice comes each 100 ms all the same. */
const paceMs = 6;
const idleMs = 4000;
const words = "The quick brown fox jumps over the lazy dog and explains at length why. ".split(/(?<= )/);

/** What a model writes, at its pace. */
function answer(tokens: number) {
  return Array.from({ length: tokens }, (_, index) => [
    { gate: () => sleep(paceMs) },
    { text: words[index % words.length]! },
  ]).flat();
}

type Nodes = { readonly worker: TestRuns; readonly reader: TestRuns; readonly relay: SqlRelay };

/** Bytes that the reader's node reads from PostgreSQL for each character of a run that works on another one, less those of its idling. */
async function bytesPerCharacter({ worker, reader, relay }: Nodes, tokens: number): Promise<number> {
  relay.takeBytes();
  await sleep(idleMs);
  const idle = relay.takeBytes().received / idleMs;
  const began = performance.now();
  const started = await worker.runs.start(worker.caller, { agent: "assistant", message: { content: String(tokens) } });
  let text = "";
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const follower = reader.runs.follow(started, started.cursor, {
    events(events) {
      for (const event of events) {
        if (event.type === "text-delta") text += event.text;
        if (event.type === "run-end") resolve();
      }
    },
    error: reject,
  });
  await ended;
  follower.close();
  const expected = answer(tokens).reduce((sum, part) => sum + ("text" in part ? (part.text?.length ?? 0) : 0), 0);
  if (text.length !== expected) throw new Error(`The follower was told ${text.length} of ${expected} characters.`);
  return (relay.takeBytes().received - idle * (performance.now() - began)) / expected;
}

async function measureOtherNode(bench: Bench): Promise<Row[]> {
  return withOwned(async (own) => {
    const postgres = own(await startPostgres({ fsync: true }));
    const folder = await mkdtemp(join(tmpdir(), "followers-"));
    own({ stop: () => rm(folder, { recursive: true, force: true }) });
    const url = await postgres.createDatabase();
    const relay = own(await startSqlRelay(url));
    const open = async (databaseUrl: string) => {
      const database = await openDatabase({ url: databaseUrl, dataDirectory: folder });
      own({ stop: () => database.close() });
      return database;
    };
    const database = await open(url);
    await migrate(database);
    const start = async (options: Parameters<typeof startTestRuns>[0]) => {
      const service = await startTestRuns(options);
      own({ stop: () => service.stop(0) });
      return service;
    };
    const script = (request: { messages: readonly { role: string; content: unknown }[] }) =>
      answer(Number(request.messages.at(-1)!.content));
    const worker = await start({ database, script });
    const reader = await start({ database: await open(relay.url), script: [], runsJobs: false });
    const nodes = { worker, reader, relay };
    await bytesPerCharacter(nodes, 50);
    const lengths = bench.quick ? [50, 100] : [500, 2000, 8000];
    const rows: Row[] = [];
    for (const tokens of lengths) {
      bench.log(`followers: ${tokens} tokens, read on another node`);
      rows.push({
        part: "followers",
        name: `bytes read from PostgreSQL for each character, on another node, ${tokens} tokens at ${paceMs} ms`,
        unit: "B",
        values: [await bytesPerCharacter(nodes, tokens)],
        bar: { kind: "value", max: 3 },
      });
    }
    return rows;
  });
}

const followed: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 20 };

/** CPU of a node per follower of a thread, for each run in it: with many followers, less the same with none. */
async function measureOwnNode(bench: Bench): Promise<Row[]> {
  return withOwned(async (own) => {
    const postgres = own(await startPostgres({ fsync: true }));
    const databaseUrl = await postgres.createDatabase();
    const server = own(await startProduct({ modelUrl: bench.modelUrl, scripts: [followed], databaseUrl }));
    const client = createClient({ url: `http://127.0.0.1:${server.port}` });
    const runs = bench.quick ? 1 : 10;
    const count = bench.quick ? 4 : 100;
    const cpuOf = async (thread: string, followers: number, load?: Child): Promise<number> => {
      const before = await server.child.call<Usage>("usage");
      for (let run = 0; run < runs; run++) {
        const started = await client.startRun(thread, { agent: agentOf(followed), content: "Say it." });
        for await (const { event } of client.follow(started.id, { cursor: started.cursor }))
          if (event.type === "run-end") break;
        // Each token is told live and in the finished message.
        await load?.call("told", followers * followed.tokens * 2);
      }
      const after = await server.child.call<Usage>("usage");
      return (after.cpuMs - before.cpuMs) / runs;
    };
    const [alone, shared] = [(await client.createThread()).id, (await client.createThread()).id];
    const load = own(await startChild("follow-load.ts"));
    await load.call("open", { port: server.port, path: `/api/threads/${shared}/events`, count });
    await cpuOf(alone, 0);
    await cpuOf(shared, count, load);
    const values: number[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      bench.log(`followers: round ${round + 1}`);
      const without = await cpuOf(alone, 0);
      values.push((await cpuOf(shared, count, load)) / count - without / count);
    }
    return [
      {
        part: "followers",
        name: `CPU of each of ${count} followers on the run's own node, for a run of 50 tokens at 20 ms, postgres`,
        unit: "ms",
        values,
        bar: { kind: "value", max: 0.2 },
      },
    ];
  });
}

/** Whoever follows a run pays for what is new, and not for what was told before or is told to others. */
export const followers: Part = {
  name: "followers",
  run: async (bench) => [...(await measureOwnNode(bench)), ...(await measureOtherNode(bench))],
};
