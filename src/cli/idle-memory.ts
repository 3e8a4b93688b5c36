import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What is asked of this process, and done to it. */
export type ProcessMemory = {
  /** CPU that all of its threads have used. */
  readonly cpuMs: () => number;
  readonly heapBytes: () => number;
  readonly collect: () => void;
};

const everyMs = 10_000;
/** Of one core. */
const idleShare = 0.05;
/** The heap, against what it was after the last collection. */
const worthwhile = 1.5;

/**
 * Collects garbage once after work, when the process idles: V8 does so only when it needs the room, and keeps twice the memory of a
 * server until then. It takes as long as 60 MB of live objects take to mark, some 50 ms. Returns how to stop it.
 */
export function giveBackMemoryWhenIdle(): () => void {
  const look = createLook(memoryOfProcess());
  const timer = setInterval(() => look(everyMs), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** One look, some time after the last. */
export function createLook({ cpuMs, heapBytes, collect }: ProcessMemory): (sinceMs: number) => void {
  let lastCpu = cpuMs();
  let lastHeap = heapBytes();
  return (sinceMs) => {
    const cpu = cpuMs();
    const isIdle = cpu - lastCpu < sinceMs * idleShare;
    lastCpu = cpu;
    if (!isIdle || heapBytes() < lastHeap * worthwhile) return;
    collect();
    lastHeap = heapBytes();
    lastCpu = cpuMs();
  };
}

export function memoryOfProcess(): ProcessMemory {
  // The function is there in contexts that are made meanwhile. The flag does not stay: what is compiled under another one is not taken from the cache.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  return {
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    collect,
  };
}
