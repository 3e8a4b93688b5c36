import { startChild, type Child } from "../child.ts";
import { inRounds, type Bench, type Part } from "../part.ts";
import type { Row } from "../rows.ts";
import type { ScenarioName } from "../scenarios.ts";
import type { MeasureInput, Measured } from "../worker.ts";

const modules = { reference: "reference/fetch-loop.ts", product: "product-loop.ts" } as const;
type Subject = keyof typeof modules;
const subjects: readonly Subject[] = ["reference", "product"];

function startWorker(bench: Bench, subject: Subject): Promise<Child> {
  return startChild("worker.ts", { args: [`./${modules[subject]}`, bench.modelUrl], execArgv: ["--expose-gc"] });
}

const bursts = [
  { scenario: "stream200", concurrency: 32, name: "200 tokens, 32 at once" },
  { scenario: "loop3", concurrency: 32, name: "3 tool rounds, 32 at once" },
  { scenario: "hist400", concurrency: 32, name: "400-message history, 32 at once" },
] as const satisfies readonly { scenario: ScenarioName; concurrency: number; name: string }[];

async function measureBursts(bench: Bench): Promise<Row[]> {
  const workers = { reference: await startWorker(bench, "reference"), product: await startWorker(bench, "product") };
  const rows: Row[] = [];
  try {
    for (const subject of subjects) {
      for (const { scenario } of bursts) {
        await workers[subject].call("check", scenario);
        const warm: MeasureInput = { scenario, concurrency: 8, milliseconds: bench.quick ? 100 : 800 };
        await workers[subject].call("measure", warm);
      }
    }
    for (const { scenario, concurrency, name } of bursts) {
      bench.log(`loop: ${name}`);
      const input: MeasureInput = { scenario, concurrency, milliseconds: bench.quick ? 100 : 600 };
      const measured = await inRounds(bench.rounds, subjects, (subject) =>
        workers[subject].call<Measured>("measure", input),
      );
      rows.push({
        part: "loop",
        name: `CPU per run, ${name}`,
        unit: "ms",
        values: measured.product.map((one) => one.cpuMsPerRun),
        reference: measured.reference.map((one) => one.cpuMsPerRun),
        bar: { kind: "ratio", max: 3 },
      });
    }
  } finally {
    await Promise.all(subjects.map((subject) => workers[subject].stop()));
  }
  return rows;
}

/** Each round in a fresh process, since peak memory is a matter of what ran before. */
async function measurePaced(bench: Bench): Promise<Row[]> {
  const streams = bench.quick ? 32 : 256;
  bench.log(`loop: ${streams} paced streams`);
  const measured = await inRounds(bench.rounds, subjects, async (subject) => {
    const worker = await startWorker(bench, subject);
    try {
      await worker.call("measure", { scenario: "stream200", concurrency: 4, runs: 40 } satisfies MeasureInput);
      return await worker.call<Measured>("measure", {
        scenario: "paced",
        concurrency: streams,
        runs: streams,
      } satisfies MeasureInput);
    } finally {
      await worker.stop();
    }
  });
  const values = (subject: Subject, read: (one: Measured) => number): number[] => measured[subject].map(read);
  const cpu = (one: Measured): number => one.cpuMsPerRun;
  const peak = (one: Measured): number => one.peakBytes / 1e6;
  const name = `${streams} streams of 50 tokens at 20 ms`;
  return [
    {
      part: "loop",
      name: `CPU per run, ${name}`,
      unit: "ms",
      values: values("product", cpu),
      reference: values("reference", cpu),
      bar: { kind: "ratio", max: 1.5 },
    },
    {
      part: "loop",
      name: `peak memory, ${name}`,
      unit: "MB",
      values: values("product", peak),
      reference: values("reference", peak),
      bar: { kind: "value", max: 150 },
    },
  ];
}

/** Model adapter and strategy in memory against a loop written by hand. */
export const loop: Part = {
  name: "loop",
  run: async (bench) => [...(await measureBursts(bench)), ...(await measurePaced(bench))],
};
