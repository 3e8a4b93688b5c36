import { withOwned, type Bench, type Part, type Server } from "../part.ts";
import type { LoopDelay } from "../probe.ts";
import { startProduct } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const script: Script = { rounds: 0, parallel: 1, tokens: 100, delay: 20 };
/** Asks once for the tool `add`, which is one long statement here. */
const slow: Script = { rounds: 1, parallel: 1, tokens: 3, delay: 0 };
const config = { concurrency: { perUser: 256, perNode: 256 } };

/** An operator's tool: it gives the right sum, after a statement that keeps the database busy for a second or more. */
const slowTool = `export default ({ defineTool, z }) => defineTool({
  name: "add",
  description: "Adds two numbers after a long statement.",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "write",
  scope: "local",
  async execute({ a, b }, { query }) {
    await query("select sum(sqrt(n)) from generate_series(1, 4000000) as s(n)");
    return { content: String(a + b) };
  },
});
`;

async function loopDelay(bench: Bench, server: Server): Promise<LoopDelay> {
  const ask = (asked: Script, streams: number): Promise<LoadResult> =>
    bench.load.call<LoadResult>("load", { ...askAgent(server, asked), streams, milliseconds: 0 } satisfies LoadInput);
  await server.child.call("watchLoop");
  await Promise.all([ask(script, 32), ask(slow, 1)]);
  return server.child.call<LoopDelay>("loopDelay");
}

/** A long statement in the database of the data directory stops nobody but those who wait for the database. */
export const eventLoop: Part = {
  name: "eventloop",
  run: (bench) =>
    withOwned(async (own) => {
      const files = { "tools/add.ts": slowTool };
      const server = own(
        await startProduct({ modelUrl: bench.modelUrl, scripts: [script, slow], config, files, agentTools: ["add"] }),
      );
      await loopDelay(bench, server);
      const delays: LoopDelay[] = [];
      for (let round = 0; round < Math.min(bench.rounds, 3); round++) {
        bench.log(`eventloop: round ${round + 1}`);
        delays.push(await loopDelay(bench, server));
      }
      const name = "event-loop delay of the server, 32 runs and one long statement, pglite";
      return [
        {
          part: "eventloop",
          name: `${name}, p99`,
          unit: "ms",
          values: delays.map((delay) => delay.p99Ms),
          bar: { kind: "value", max: 20 },
        },
        { part: "eventloop", name: `${name}, longest`, unit: "ms", values: delays.map((delay) => delay.maxMs) },
      ];
    }),
};
