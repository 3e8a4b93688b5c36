/** Loaded into every test process: a file that does not end is ended, and says what kept it alive. */
import { isMainThread } from "node:worker_threads";

const seconds = Number(process.env.COLLOQUY_TEST_FILE_SECONDS ?? 120);

if (isMainThread) {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(", ");
    process.stderr.write(`${process.argv[1]} did not end within ${seconds} s; still open: ${open || "nothing"}\n`);
    process.exit(1);
  }, seconds * 1000).unref();
}
