import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "./part.ts";

/** The 99th percentile of the times of `/health`, asked one after the other until `over`. */
export async function healthP99({ port }: Server, over: () => boolean): Promise<number> {
  const times: number[] = [];
  while (!over()) {
    const began = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/health`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`/health answered ${response.status}`);
    times.push(performance.now() - began);
    await sleep(5);
  }
  times.sort((left, right) => left - right);
  return times[Math.floor(times.length * 0.99)] ?? NaN;
}
