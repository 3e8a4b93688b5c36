import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { cpuMilliseconds, serveCommands } from "./child.ts";

/**
 * Loaded into a server by `--import`: answers over the channel to the bench what the process has used.
 * Worker threads of the server load it too, and leave it alone; their CPU is in the process'.
 */
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  serveCommands(
    {
      usage: (): Usage => ({ cpuMs: cpuMilliseconds(), rssBytes: process.memoryUsage.rss() }),
      watchLoop: () => {
        delay.reset();
        delay.enable();
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

export type Usage = { readonly cpuMs: number; readonly rssBytes: number };
export type LoopDelay = { readonly p99Ms: number; readonly maxMs: number };
