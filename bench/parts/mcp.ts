import { startChild } from "../child.ts";
import type { CallInput } from "../mcp-caller.ts";
import type { Dialect } from "../mcp-peer.ts";
import { inRounds, withOwned, type Bench, type Part } from "../part.ts";
import { profiling } from "../product.ts";
import type { Row } from "../rows.ts";

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

/** Tools of other servers: what a call costs, and what many of them cost those who don't call. */
export const mcp: Part = {
  name: "mcp",
  async run(bench) {
    const rows: Row[] = [];
    for (const dialect of Object.keys(dialects) as Dialect[]) rows.push(await measureCalls(bench, dialect));
    return rows;
  },
};
