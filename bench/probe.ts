import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { cpuMilliseconds, serveCommands } from "./child.ts";

/**
 * Loaded into a server by `--import`: answers over the channel to the bench what the process has used.
 * Worker threads of the server load it too, and leave it alone; their CPU is in the process'.
 */
if (isMainThread) {
  /** CPU time of the longest turn of the loop: unlike its delay the same on a busy machine. */
  let longestTurn = 0;
  let lastTurn = 0;
  let watching = false;
  const nextTurn = () => {
    const now = threadMs();
    longestTurn = Math.max(longestTurn, now - lastTurn);
    lastTurn = now;
    if (watching) setImmediate(nextTurn);
  };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  serveCommands(
    {
      usage: (): Usage => ({ cpuMs: cpuMilliseconds(), rssBytes: process.memoryUsage.rss() }),
      watchLoop: () => {
        delay.reset();
        delay.enable();
      },
      /** How long the reference takes, in the process that is measured. */
      parse: (bytes: Uint8Array): number => {
        const times = Array.from({ length: 5 }, () => {
          const began = performance.now();
          JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
          return performance.now() - began;
        });
        return Math.min(...times);
      },
      watchTurns: () => {
        longestTurn = 0;
        lastTurn = threadMs();
        watching = true;
        setImmediate(nextTurn);
      },
      longestTurn: (): number => {
        watching = false;
        return longestTurn;
      },
      loopDelay: (): LoopDelay => {
        delay.disable();
        return { p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 };
      },
    },
    () => process.kill(process.pid, "SIGTERM"),
  );
  // The channel must not keep a server alive that has stopped.
  process.channel?.unref();
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

export type Usage = { readonly cpuMs: number; readonly rssBytes: number };
export type LoopDelay = { readonly p99Ms: number; readonly maxMs: number };
