import { randomUUID } from "node:crypto";
import { startPostgres } from "../../test/postgres.ts";
import { inRounds, withOwned, type Bench, type Part, type Server } from "../part.ts";
import { agentOf, startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";
import { summarize } from "../statistics.ts";

const script: Script = { rounds: 0, parallel: 1, tokens: 3, delay: 0 };
type Subject = "short" | "long";
/** The longest is as many messages as one request may bring. */
const lengths: Readonly<Record<Subject, number>> = { short: 100, long: 5000 };
/** Less than the short thread has, so that both prompts are of one size. */
const contextTokens = 4096;

/** A new thread that begins with so many messages, made by one request. */
async function makeThread(server: Server, session: string, length: number): Promise<void> {
  const history = Array.from({ length: length - 1 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Part ${index}. ${"The quick brown fox jumps over the lazy dog and explains at length why. ".repeat(4)}`,
  }));
  const messages = [...history, { role: "user", content: "And now?" }];
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: agentOf(script), session_id: session, messages }),
  });
  if (!response.ok) throw new Error(`The thread was refused: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/**
 * Threads grow by what is asked in them, so each measurement of a short one begins a new one.
 * The long one stays the same but for a few in thousands.
 */
async function threadFor(server: Server, subject: Subject): Promise<string> {
  if (subject === "long") return subject;
  const session = randomUUID();
  await makeThread(server, session, lengths.short);
  return session;
}

/** Median milliseconds from sending a message to the provider hearing of it. */
async function untilProvider(bench: Bench, server: Server, session: string): Promise<number> {
  await bench.modelServer.call("takeArrivals");
  const input: LoadInput = {
    ...askAgent(server, script, session),
    streams: 1,
    milliseconds: Infinity,
    requests: bench.quick ? 3 : 30,
  };
  const { sentAt } = await bench.load.call<LoadResult>("load", input);
  const arrivals = await bench.modelServer.call<number[]>("takeArrivals");
  if (arrivals.length < sentAt.length) throw new Error(`${sentAt.length} runs made ${arrivals.length} model requests`);
  // One after another; a run asks more than once when it has its thread summarised.
  return summarize(sentAt.map((sent) => (arrivals.find((at) => at >= sent) ?? NaN) - sent)).median;
}

/** The length of a thread is not in the time of its next answer. */
export const history: Part = {
  name: "history",
  run: (bench) =>
    withOwned(async (own) => {
      const postgres = own(await startPostgres({ fsync: true }));
      const { modelUrl } = bench;
      const server = own(
        await startProduct({
          modelUrl,
          scripts: [script],
          contextTokens,
          databaseUrl: await postgres.createDatabase(),
        }),
      );
      const subjects: readonly Subject[] = ["short", "long"];
      bench.log(`history: threads of ${lengths.long} and ${lengths.short} items`);
      await makeThread(server, "long", lengths.long);
      const measure = async (subject: Subject): Promise<number> =>
        untilProvider(bench, server, await threadFor(server, subject));
      for (const subject of subjects) await measure(subject);
      const values = await inRounds(bench.rounds, subjects, measure);
      return [
        {
          part: "history",
          name: "time until the provider is called, 5,000 items against 100, postgres",
          unit: "ms",
          values: values.long,
          reference: values.short,
          bar: { kind: "ratio", max: 1.2 },
        },
      ];
    }),
};
