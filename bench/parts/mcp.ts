import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { startChild, type Child } from "../child.ts";
import type { CallInput } from "../mcp-caller.ts";
import type { Dialect } from "../mcp-peer.ts";
import { inRounds, withOwned, type Bench, type Part } from "../part.ts";
import type { Usage } from "../probe.ts";
import { profiling, startProduct, type Product } from "../product.ts";
import { askAgent } from "../requests.ts";
import type { Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const dialects: Readonly<Record<Dialect, string>> = {
  "2025-11-25": "2025-11-25",
  "2025-11-25-events": "2025-11-25, answered as a stream of events",
  "2026-07-28": "2026-07-28",
};

/** A call as a run makes it, against the bare POST that it boils down to. */
async function measureCalls(bench: Bench, dialect: Dialect): Promise<Row> {
  return withOwned(async (own) => {
    const peer = own(await startChild("mcp-peer.ts", { args: ["1", "1", dialect] }));
    const [url = ""] = await peer.call<string[]>("urls");
    const start = async (subject: string) =>
      own(
        await startChild("mcp-caller.ts", { args: [subject, url], execArgv: subject === "product" ? profiling() : [] }),
      );
    const callers = { bare: await start("bare"), product: await start("product") };
    const input: CallInput = { calls: bench.quick ? 50 : 3000, concurrency: 16 };
    const measure = (subject: keyof typeof callers): Promise<number> => callers[subject].call<number>("measure", input);
    bench.log(`mcp: a call, ${dialect}`);
    // Until its code is compiled, each round costs less than the one before.
    for (let round = 0; round < (bench.quick ? 1 : 3); round++)
      for (const subject of ["bare", "product"] as const) await measure(subject);
    const cpu = await inRounds(bench.rounds, ["bare", "product"] as const, measure);
    return {
      part: "mcp",
      name: `CPU of a tool call, against a bare POST, ${dialects[dialect]}`,
      unit: "ms",
      values: cpu.product,
      reference: cpu.bare,
      bar: { kind: "ratio", max: 3 },
    };
  });
}

const servers = 50;
const toolsEach = 20;
const script: Script = { rounds: 0, parallel: 1, tokens: 3, delay: 0 };

type Setup = "none" | "many";

/** Each setup starts once a round, in a new folder, so it makes its database too. */
async function measureStart(bench: Bench, start: (setup: Setup) => Promise<Product>): Promise<Row> {
  bench.log(`mcp: start with ${servers} servers`);
  for (const setup of ["none", "many"] as const) await (await start(setup)).stop();
  const startMs = await inRounds(bench.rounds, ["none", "many"] as const, async (setup) => {
    const product = await start(setup);
    await product.stop();
    return product.startMs;
  });
  return {
    part: "mcp",
    name: `start until healthy with ${servers} servers of ${toolsEach} tools, against none, pglite`,
    unit: "ms",
    values: startMs.many,
    reference: startMs.none,
    bar: { kind: "ratio", max: 1.25 },
  };
}

async function untilListed(peer: Child, listings: number): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(20))
    // What they answered is read in the meantime.
    if ((await peer.call<number>("listings")) >= listings) return sleep(1000);
  throw new Error("Not all servers were asked for their tools.");
}

/** Messages to an agent that has all tools: what they cost, and what the servers hear of them. */
async function measureMessages(bench: Bench, peer: Child, products: Readonly<Record<Setup, Product>>): Promise<Row[]> {
  const ask = async (setup: Setup, milliseconds: number) => {
    const { child } = products[setup];
    const before = await child.call<Usage>("usage");
    const input: LoadInput = { ...askAgent(products[setup], script), streams: 8, milliseconds };
    const { done } = await bench.load.call<LoadResult>("load", input);
    return { done, cpuMs: ((await child.call<Usage>("usage")).cpuMs - before.cpuMs) / done };
  };
  bench.log(`mcp: messages with ${servers * toolsEach} tools`);
  for (const setup of ["none", "many"] as const) await ask(setup, bench.quick ? 100 : 2500);
  const requests: number[] = [];
  const cpu = await inRounds(bench.rounds, ["none", "many"] as const, async (setup) => {
    const before = await peer.call<number>("requests");
    const { done, cpuMs } = await ask(setup, bench.quick ? 100 : 1500);
    if (setup === "many") requests.push(((await peer.call<number>("requests")) - before) / done);
    return cpuMs;
  });
  return [
    {
      part: "mcp",
      name: `requests to ${servers} servers for each message`,
      unit: "",
      values: requests,
      bar: { kind: "value", max: 0 },
    },
    {
      part: "mcp",
      name: `CPU of a message to an agent with ${servers * toolsEach} tools, against none, postgres`,
      unit: "ms",
      values: cpu.many,
      reference: cpu.none,
    },
  ];
}

/** What a run asks of the registry each time. */
async function measureSelect(bench: Bench, urls: readonly string[]): Promise<Row> {
  return withOwned(async (own) => {
    bench.log(`mcp: choosing among ${servers * toolsEach} tools`);
    const chooser = own(await startChild("mcp-chooser.ts", { args: urls }));
    const values: number[] = [];
    for (let round = 0; round <= bench.rounds; round++) values.push(await chooser.call<number>("measure", 500));
    return {
      part: "mcp",
      name: `CPU of choosing an agent's tools among ${servers * toolsEach}`,
      unit: "ms",
      values: values.slice(1),
      bar: { kind: "value", max: 0.2 },
    };
  });
}

/** Tools of other servers: what a call costs, and what many of them cost those who don't call. */
export const mcp: Part = {
  name: "mcp",
  run: (bench) =>
    withOwned(async (own) => {
      const rows: Row[] = [];
      for (const dialect of Object.keys(dialects) as Dialect[]) rows.push(await measureCalls(bench, dialect));
      const peer = own(await startChild("mcp-peer.ts", { args: [String(servers), String(toolsEach), "2025-11-25"] }));
      const urls = await peer.call<string[]>("urls");
      rows.push(await measureSelect(bench, urls));
      const mcpServers = Object.fromEntries(urls.map((url, at) => [`s${at}`, { url }]));
      const start = (setup: Setup, databaseUrl?: string): Promise<Product> =>
        startProduct({
          modelUrl: bench.modelUrl,
          scripts: [script],
          agentTools: ["*"],
          config: { concurrency: { perUser: 256, perNode: 256 }, ...(setup === "many" && { mcpServers }) },
          ...(databaseUrl !== undefined && { databaseUrl }),
        });
      rows.push(await measureStart(bench, start));
      const postgres = own(await startPostgres({ fsync: true }));
      const listings = await peer.call<number>("listings");
      const products = {
        none: own(await start("none", await postgres.createDatabase())),
        many: own(await start("many", await postgres.createDatabase())),
      };
      await untilListed(peer, listings + servers);
      return [...rows, ...(await measureMessages(bench, peer, products))];
    }),
};
