/** Loaded into every test process: a file that does not end is ended, with its children, and says what kept it alive. */
import { globSync, readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const seconds = Number(process.env.COLLOQUY_TEST_FILE_SECONDS ?? 120);

if (isMainThread) {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(", ");
    process.stderr.write(`${process.argv[1]} did not end within ${seconds} s; still open: ${open || "nothing"}\n`);
    // They hold the runner's pipe: it would wait for them.
    for (const pid of childrenOf(process.pid)) process.kill(pid, "SIGKILL");
    process.exit(1);
  }, seconds * 1000).unref();
}

/** Linux tells; elsewhere they stay. */
function childrenOf(pid) {
  const lists = globSync(`/proc/${pid}/task/*/children`).map((file) => readFileSync(file, "utf8"));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}
