import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../src/client/client.ts";
import { bubblewrapDriver } from "../../src/sandbox/drivers/bubblewrap.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { healthP99 } from "../health-p99.ts";
import { inRounds, withOwned, type Bench, type Part, type Server } from "../part.ts";
import type { Usage } from "../probe.ts";
import { startProduct } from "../product.ts";
import type { Row } from "../rows.ts";
import { summarize } from "../statistics.ts";

const signal = new AbortController().signal;
const megabyte = 1024 ** 2;

/** Through the sandbox, and as bare as it can be: `spawn("bash", ["-c", "true"])`. */
async function measureStart(bench: Bench): Promise<Row[]> {
  const workspace = await mkdtemp(join(tmpdir(), "colloquy-bench-"));
  const open = (groups: boolean): Promise<Sandbox> => bubblewrapDriver({}, { groups }).open(signal);
  const [bare, whole] = [await open(false), await open(true)];
  const inSandbox = async (sandbox: Sandbox): Promise<void> => {
    const { exitCode } = await sandbox.run({ argv: ["bash", "-c", "true"], workspace, signal });
    if (exitCode !== 0) throw new Error(`A command ended with ${exitCode}`);
  };
  const subjects = {
    spawn: async () => void (await once(spawn("bash", ["-c", "true"], { stdio: ["ignore", "pipe", "pipe"] }), "close")),
    bare: () => inSandbox(bare),
    whole: () => inSandbox(whole),
  };
  try {
    bench.log("sandbox: start of a command");
    const values = await inRounds(bench.quick ? 3 : 60, ["spawn", "bare", "whole"] as const, async (subject) => {
      const began = performance.now();
      await subjects[subject]();
      return performance.now() - began;
    });
    // Of single commands the ratio says little: what else the machine does meets one and not the other.
    const median = (subject: keyof typeof subjects) => [summarize(values[subject]).median];
    const common = { part: "sandbox", unit: "ms", reference: median("spawn") };
    const name = "a command in bubblewrap, against a bare spawn of bash";
    return [
      { ...common, name: `${name}, without control groups`, values: median("bare"), bar: { kind: "ratio", max: 4 } },
      { ...common, name: `${name}, as configured by default`, values: median("whole"), bar: { kind: "ratio", max: 7 } },
    ];
  } finally {
    await Promise.all([bare.close(), whole.close()]);
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Runs a command as a user of the tool does, and fails unless it prints what is expected. */
async function callBash({ port }: Server, cmd: string, expected: RegExp): Promise<void> {
  const { result } = await createClient({ url: `http://127.0.0.1:${port}` }).callTool("bash", {
    arguments: { cmd, timeout_seconds: 120 },
  });
  if (!expected.test(result?.content ?? "")) throw new Error(`bash answered ${JSON.stringify(result)}`);
}

const crowded = 50;
const commandMs = 6000;

/** Beside commands that all begin at once: until each has begun, and from then on. */
async function measureCrowd(bench: Bench, server: Server): Promise<Row[]> {
  const idle: number[] = [];
  const begin: number[] = [];
  const work: number[] = [];
  for (let round = 0; round < bench.rounds; round++) {
    bench.log(`sandbox: /health beside ${crowded} commands, round ${round + 1}`);
    const end = performance.now() + (bench.quick ? 300 : 4000);
    idle.push(await healthP99(server, () => performance.now() > end));
    const began = performance.now();
    const commands = Array.from({ length: bench.quick ? 5 : crowded }, () =>
      callBash(server, `sleep ${commandMs / 1000}; echo slept`, /^slept/),
    );
    begin.push(await healthP99(server, () => performance.now() - began > commandMs / 2));
    work.push(await healthP99(server, () => performance.now() - began > commandMs));
    await Promise.all(commands);
  }
  const common = { part: "sandbox", unit: "ms", reference: idle };
  const name = `/health, p99, against idle: ${crowded} commands`;
  return [
    { ...common, name: `${name} at work`, values: work, bar: { kind: "ratio", max: 4 } },
    { ...common, name: `${name} that begin at once`, values: begin },
  ];
}

/** How much larger the server is at its largest while a command writes. */
async function measureOutput(bench: Bench, { child, port, stop }: Server): Promise<Row> {
  const server = { child, port, stop };
  const size = async (): Promise<number> => (await child.call<Usage>("usage")).rssBytes;
  const write = (bytes: string) => callBash(server, `head -c ${bytes} /dev/zero | tr '\\0' x`, /^x+/);
  const values: number[] = [];
  await write("64M");
  for (let round = 0; round < bench.rounds; round++) {
    bench.log(`sandbox: 1 GB of output, round ${round + 1}`);
    const before = await size();
    let largest = before;
    let over = false;
    const writing = write(bench.quick ? "64M" : "1G").finally(() => (over = true));
    while (!over) {
      largest = Math.max(largest, await size());
      await sleep(10);
    }
    await writing;
    values.push((largest - before) / megabyte);
  }
  return {
    part: "sandbox",
    name: "server's memory for 1 GB of output",
    unit: "MB",
    values,
    bar: { kind: "value", max: 20 },
  };
}

/** Commands of agents: how fast they begin, and what they cost the server. */
export const sandbox: Part = {
  name: "sandbox",
  run: (bench) =>
    withOwned(async (own) => {
      const rows = await measureStart(bench);
      const config = { concurrency: { perUser: 256, perNode: 256 }, sandbox: { kind: "bubblewrap", outputMb: 2048 } };
      const server = own(await startProduct({ modelUrl: bench.modelUrl, scripts: [], config }));
      return [...rows, ...(await measureCrowd(bench, server)), await measureOutput(bench, server)];
    }),
};
