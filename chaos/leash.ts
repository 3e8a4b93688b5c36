import { isMainThread } from "node:worker_threads";

// Loaded into each node by `--import`: whatever becomes of the driver, no node outlives it.
if (isMainThread) {
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  // The channel must not keep a server alive that has stopped.
  process.channel?.unref();
}
