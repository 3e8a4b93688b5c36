import { bubblewrapDriver } from "../../src/sandbox/drivers/bubblewrap.ts";

/** A server that is killed while a command runs in the workspace that it is given. */
const signal = new AbortController().signal;
const sandbox = await bubblewrapDriver().open(signal);
await sandbox.run({
  argv: ["bash", "-c", "setsid sh -c 'while :; do echo >> beat; sleep 0.02; done' & sleep 60"],
  workspace: process.argv[2] ?? "",
  signal,
  limits: { timeoutMs: 60_000 },
});
