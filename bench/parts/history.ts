import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../src/protocol/base/ids.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { startPostgres } from "../../test/postgres.ts";
import { startTestRuns } from "../../test/runs.ts";
import { inRounds, withOwned, type Bench, type Part, type Server } from "../part.ts";
import type { Usage } from "../probe.ts";
import { startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";
import { summarize } from "../statistics.ts";

const script: Script = { rounds: 0, parallel: 1, tokens: 3, delay: 0 };
type Subject = "short" | "long";
/** With these the room of a prompt is 8,000 tokens, about as many as the short thread has, so that both prompts are of one size. */
const contextTokens = 10_667;
const said = "The quick brown fox jumps over the lazy dog and explains at length why. ".repeat(4);

type Threads = { make(items: number): Promise<string>; count(threadId: string): Promise<number> };
type Costs = { readonly cpuMs: number; readonly waitMs: number };

/** Makes threads by the product's own code, in this process, so that all of their items are stored. */
async function openThreads(
  own: <Owned extends { stop(): Promise<void> }>(owned: Owned) => Owned,
  url: string,
): Promise<Threads> {
  const folder = await mkdtemp(join(tmpdir(), "history-"));
  own({ stop: () => rm(folder, { recursive: true, force: true }) });
  const database = await openDatabase({ url, dataDirectory: folder });
  own({ stop: () => database.close() });
  const service = await startTestRuns({ database, script: [], runsJobs: false });
  own({ stop: () => service.stop(0) });
  return {
    async make(items) {
      const history = Array.from({ length: items - 1 }, (_, n) => ({
        id: newId(),
        kind: "message" as const,
        body: { role: n % 2 ? ("assistant" as const) : ("user" as const), content: `Part ${n}. ${said}` },
      }));
      const message = { content: "And now?" };
      const { threadId, runId } = await service.runs.start(service.caller, { agent: "assistant", history, message });
      await service.runs.cancel(service.caller, runId);
      return threadId;
    },
    async count(threadId) {
      const [row] = await database.query<{ count: number }>(
        "select count(*)::integer as count from items where thread_id = $1",
        [threadId],
      );
      return row!.count;
    },
  };
}

/** Of a run: the server's CPU, and the median time from sending its message to the provider hearing of it. */
async function costOfRuns(bench: Bench, server: Server, threadId: string, requests: number): Promise<Costs> {
  await bench.modelServer.call("takeArrivals");
  const input: LoadInput = { ...askAgent(server, script, threadId), streams: 1, milliseconds: Infinity, requests };
  const before = await server.child.call<Usage>("usage");
  const { sentAt } = await bench.load.call<LoadResult>("load", input);
  const after = await server.child.call<Usage>("usage");
  const arrivals = await bench.modelServer.call<number[]>("takeArrivals");
  if (arrivals.length < sentAt.length) throw new Error(`${sentAt.length} runs made ${arrivals.length} model requests`);
  // One after another; a run asks more than once when it has its thread summarised.
  const waits = sentAt.map((sent) => (arrivals.find((at) => at >= sent) ?? NaN) - sent);
  return { cpuMs: (after.cpuMs - before.cpuMs) / requests, waitMs: summarize(waits).median };
}

/** The length of a thread is in neither the CPU nor the time of its next answer. */
export const history: Part = {
  name: "history",
  run: (bench) =>
    withOwned(async (own) => {
      const postgres = own(await startPostgres({ fsync: true }));
      const databaseUrl = await postgres.createDatabase();
      const { modelUrl } = bench;
      const server = own(await startProduct({ modelUrl, scripts: [script], contextTokens, databaseUrl }));
      const threads = await openThreads(own, databaseUrl);
      const lengths: Readonly<Record<Subject, number>> = { short: 100, long: bench.quick ? 1000 : 10_000 };
      const runs = bench.quick ? 3 : 20;
      const begin = async (length: number): Promise<string> => {
        const threadId = await threads.make(length);
        const stored = await threads.count(threadId);
        if (stored < length) throw new Error(`The thread has ${stored} items instead of ${length}.`);
        // This model's summaries are refused, and after some the thread is left alone.
        await costOfRuns(bench, server, threadId, 4);
        return threadId;
      };
      bench.log(`history: threads of ${lengths.long} and ${lengths.short} items`);
      // A thread grows by what is asked in it, so each measurement begins a new one.
      const measure = async (subject: Subject): Promise<Costs> =>
        costOfRuns(bench, server, await begin(lengths[subject]), runs);
      for (const subject of ["short", "long"] as const) await measure(subject);
      const values = await inRounds(bench.rounds, ["short", "long"], measure);
      const common = { part: "history", unit: "ms", bar: { kind: "ratio", max: 1.2 } as const };
      return [
        {
          ...common,
          name: `CPU of a run, ${lengths.long} items against ${lengths.short}, prompts of 8,000 tokens, postgres`,
          values: values.long.map(({ cpuMs }) => cpuMs),
          reference: values.short.map(({ cpuMs }) => cpuMs),
        },
        {
          ...common,
          name: "the same, time until the provider is called",
          values: values.long.map(({ waitMs }) => waitMs),
          reference: values.short.map(({ waitMs }) => waitMs),
        },
      ];
    }),
};
