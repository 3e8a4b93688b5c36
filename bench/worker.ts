import { cpuMilliseconds, serveCommands } from "./child.ts";
import { countTokens } from "./script.ts";
import { scenarios, takeAddCalls, type Runner, type ScenarioName } from "./scenarios.ts";
import { summarize } from "./statistics.ts";

/** One runner in a process of its own: `worker.ts <module of createRunner> <base URL>`. */
export type MeasureInput = {
  readonly scenario: ScenarioName;
  readonly concurrency: number;
  /** Goes on for so long, or for exactly so many runs. */
  readonly milliseconds?: number;
  readonly runs?: number;
};

export type Measured = {
  readonly done: number;
  readonly cpuMsPerRun: number;
  readonly runsPerSecond: number;
  readonly firstToken: { readonly median: number; readonly p95: number };
  /** The most memory seen while it ran. */
  readonly peakBytes: number;
};

type RunnerModule = { createRunner(baseUrl: string): Runner };

const [module = "", baseUrl = ""] = process.argv.slice(2);
const { createRunner } = (await import(new URL(module, import.meta.url).href)) as RunnerModule;
const runner = createRunner(baseUrl);

async function runOnce(name: ScenarioName): Promise<number> {
  const scenario = scenarios[name];
  const started = performance.now();
  let firstTokenMs = 0;
  let streamed = 0;
  const text = await runner(scenario, (piece) => {
    if (streamed === 0) firstTokenMs = performance.now() - started;
    streamed += piece.length;
  });
  if (countTokens(text) !== scenario.tokens || streamed !== text.length) {
    throw new Error(
      `${module} ${name}: ${countTokens(text)} tokens, ${streamed} of ${text.length} characters streamed`,
    );
  }
  return firstTokenMs;
}

async function check(name: ScenarioName): Promise<void> {
  takeAddCalls();
  await runOnce(name);
  const calls = takeAddCalls();
  const { rounds, parallel } = scenarios[name];
  if (calls !== rounds * parallel) throw new Error(`${module} ${name}: ${calls} tool calls`);
}

async function measure(input: MeasureInput): Promise<Measured> {
  const firstTokens: number[] = [];
  const runs = input.runs ?? Infinity;
  let begun = 0;
  globalThis.gc?.();
  let peakBytes = process.memoryUsage.rss();
  const sampler = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss())), 25);
  const cpu = cpuMilliseconds();
  const started = performance.now();
  const end = input.runs === undefined ? started + (input.milliseconds ?? 0) : Infinity;
  const loop = async (): Promise<void> => {
    while (begun < runs && performance.now() < end) {
      begun++;
      firstTokens.push(await runOnce(input.scenario));
    }
  };
  try {
    await Promise.all(Array.from({ length: input.concurrency }, loop));
  } finally {
    clearInterval(sampler);
  }
  const done = firstTokens.length;
  const { median, p95 } = summarize(firstTokens);
  return {
    done,
    cpuMsPerRun: (cpuMilliseconds() - cpu) / done,
    runsPerSecond: (done / (performance.now() - started)) * 1000,
    firstToken: { median, p95 },
    peakBytes,
  };
}

serveCommands({ check, measure });
