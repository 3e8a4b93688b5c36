import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../src/client/client.ts";
import { startPostgres } from "../../test/postgres.ts";
import { healthP99 } from "../health-p99.ts";
import { withOwned, type Bench, type Part, type Server } from "../part.ts";
import type { Usage } from "../probe.ts";
import { agentOf, startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const config = { concurrency: { perUser: 256, perNode: 256 } };
/** Asks once for the tool `add`, which a person must allow here. */
const asking: Script = { rounds: 1, parallel: 1, tokens: 3, delay: 0 };
const paced: Script = { rounds: 0, parallel: 1, tokens: 300, delay: 20 };

const addTool = `export default ({ defineTool, z }) => defineTool({
  name: "add",
  description: "Adds two numbers, if a person allows it.",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "write",
  destructive: true,
  execute: ({ a, b }) => String(a + b),
});
`;

function clientOf({ port }: Server): ReturnType<typeof createClient> {
  return createClient({ url: `http://127.0.0.1:${port}` });
}

/** Makes runs that wait for a person, some at a time; resolves to their ids. */
async function makeWaiting(server: Server, count: number): Promise<readonly string[]> {
  const client = clientOf(server);
  const made: string[] = [];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun++ < count) {
      const thread = await client.createThread();
      const run = await client.startRun(thread.id, { agent: agentOf(asking), content: "Add." });
      for await (const { event } of client.follow(run.id, { cursor: run.cursor })) {
        if (event.type === "run-end") throw new Error(`A run that should wait has ended: ${JSON.stringify(event)}`);
        if (event.type === "run-wait") break;
      }
      made.push(run.id);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return made;
}

async function cpuOf({ child }: Server): Promise<number> {
  return (await child.call<Usage>("usage")).cpuMs;
}

/** Both servers over the same stretch of time, so that whatever else the machine does meets both. */
async function measureIdle(bench: Bench, waiting: Server, empty: Server): Promise<Row> {
  const values: number[] = [];
  const reference: number[] = [];
  const milliseconds = bench.quick ? 500 : 12_000;
  // A major collection of either server's memory costs as much as seconds of its idling.
  for (let round = 0; round < (bench.quick ? 1 : Math.max(bench.rounds, 9)); round++) {
    bench.log(`crowd: idle CPU, round ${round + 1}`);
    const before = await Promise.all([cpuOf(waiting), cpuOf(empty)]);
    await sleep(milliseconds);
    const after = await Promise.all([cpuOf(waiting), cpuOf(empty)]);
    values.push(((after[0] - before[0]) / milliseconds) * 1000);
    reference.push(((after[1] - before[1]) / milliseconds) * 1000);
  }
  return {
    part: "crowd",
    name: "idle CPU with 1,000 waiting runs, against none, postgres",
    unit: "ms/s",
    values,
    reference,
    bar: { kind: "ratio", max: 1.1 },
  };
}

type Crowd = { readonly begin: number; readonly work: number };

/** Beside runs that all begin at once: until each has begun, and from then on. */
async function besideCrowd(bench: Bench, server: Server): Promise<Crowd> {
  const answerMs = paced.tokens * paced.delay;
  const began = performance.now();
  let over = false;
  const load = bench.load
    // Fails if one of the answers is not whole.
    .call<LoadResult>("load", { ...askAgent(server, paced), streams: crowded, milliseconds: 0 } satisfies LoadInput)
    .finally(() => (over = true));
  const begin = await healthP99(server, () => over || performance.now() - began > answerMs / 3);
  const work = await healthP99(server, () => over || performance.now() - began > answerMs);
  await load;
  return { begin, work };
}

const crowded = 200;

async function measureHealth(bench: Bench, server: Server): Promise<Row[]> {
  const idle: number[] = [];
  const crowds: Crowd[] = [];
  await besideCrowd(bench, server);
  for (let round = 0; round < bench.rounds; round++) {
    bench.log(`crowd: /health beside ${crowded} runs, round ${round + 1}`);
    const end = performance.now() + (bench.quick ? 300 : 4000);
    idle.push(await healthP99(server, () => performance.now() > end));
    crowds.push(await besideCrowd(bench, server));
  }
  const common = { part: "crowd", unit: "ms", reference: idle };
  const name = `/health, p99, against idle, one node, postgres: ${crowded} runs`;
  return [
    { ...common, name: `${name} at work`, values: crowds.map(({ work }) => work), bar: { kind: "ratio", max: 4 } },
    { ...common, name: `${name} that begin at once`, values: crowds.map(({ begin }) => begin) },
  ];
}

/** Many runs: those that wait cost nothing, those that work leave the server answering. */
export const crowd: Part = {
  name: "crowd",
  run: (bench) =>
    withOwned(async (own) => {
      const postgres = own(await startPostgres({ fsync: true }));
      const start = async (): Promise<Server> =>
        own(
          await startProduct({
            modelUrl: bench.modelUrl,
            scripts: [asking, paced],
            config,
            agentTools: ["add"],
            files: { "tools/add.ts": addTool },
            databaseUrl: await postgres.createDatabase(),
          }),
        );
      const [waiting, empty] = [await start(), await start()];
      bench.log("crowd: making the runs that wait");
      const count = bench.quick ? 20 : 1000;
      await makeWaiting(waiting, count);
      // The same past, so that the code is as warm and the tables are as large, but nobody waits any more.
      const client = clientOf(empty);
      for (const id of await makeWaiting(empty, count)) await client.cancel(id);
      // Until what was begun is over and forgotten.
      await sleep(bench.quick ? 100 : 35_000);
      const idle = await measureIdle(bench, waiting, empty);
      await waiting.stop();
      return [idle, ...(await measureHealth(bench, empty))];
    }),
};
