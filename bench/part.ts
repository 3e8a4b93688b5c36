import { startChild, type Child } from "./child.ts";
import type { Row } from "./rows.ts";
import { shuffled } from "./statistics.ts";

/** What a part gets: the model server, the load generator, and how long to take. */
export type Bench = {
  readonly rounds: number;
  /** One round of each, short: the figures mean little, the checks are the same. */
  readonly quick: boolean;
  readonly modelServer: Child;
  /** Of the model server, with `/v1`. */
  readonly modelUrl: string;
  readonly load: Child;
  /** Where the Cranfield collection is. */
  readonly cranfield?: string;
  /** How many chunks are searched. */
  readonly chunks: number;
  log(text: string): void;
};

export type ProxyKind = "events" | "reads" | "merged" | `merged-${number}` | "bytes";

/** Measures one promise about speed; throws when what it measures does something wrong. */
export type Part = { readonly name: string; run(bench: Bench): Promise<readonly Row[]> };

/** A server that answers the probe's commands. */
export type Server = { readonly child: Child; readonly port: number; stop(): Promise<void> };

/**
 * The reference of all servers, in one of its kinds (reference/proxy.ts): all parse each event of the model but `bytes`.
 * `events` writes each one by itself; `reads` all of a network read at once; `merged` the text of a read as one event,
 * `merged-100` that of 100 ms.
 */
export async function startProxy(bench: Bench, kind: ProxyKind = "events"): Promise<Server> {
  const child = await startChild("reference/proxy.ts", { args: [bench.modelUrl, kind] });
  return { child, port: await child.call<number>("port"), stop: () => child.stop() };
}

type Stoppable = { stop(): Promise<void> };

/** Stops what was handed to `own`, last first, however the body ends. */
export async function withOwned<Value>(
  body: (own: <Owned extends Stoppable>(owned: Owned) => Owned) => Promise<Value>,
): Promise<Value> {
  const all: Stoppable[] = [];
  try {
    return await body((owned) => {
      all.push(owned);
      return owned;
    });
  } finally {
    for (const owned of all.toReversed()) await owned.stop();
  }
}

/** Measures each subject once a round, in another order each round; the values of a subject stand in the order of rounds. */
export async function inRounds<Subject extends string, Value>(
  rounds: number,
  subjects: readonly Subject[],
  measure: (subject: Subject) => Promise<Value>,
): Promise<Readonly<Record<Subject, readonly Value[]>>> {
  const values = Object.fromEntries(subjects.map((subject) => [subject, [] as Value[]])) as Record<Subject, Value[]>;
  for (let round = 0; round < rounds; round++) {
    for (const subject of shuffled(subjects)) values[subject].push(await measure(subject));
  }
  return values;
}
