import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { startTestRuns, type TestRuns } from "../../test/runs.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
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

/** Whoever follows a run pays for what is new, and not for what was told before or is told to others. */
export const followers: Part = {
  name: "followers",
  run: measureOtherNode,
};
