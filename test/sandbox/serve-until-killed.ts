/** A server that is killed while a command runs: `serve-until-killed.ts <driver> <workspace>`. */
import { drivers } from "./drivers.ts";

const [name, workspace = ""] = process.argv.slice(2);
const signal = AbortSignal.timeout(60_000);
const sandbox = await drivers.find((driver) => driver.name === name)!.open(signal);
await sandbox.run({
  argv: [
    "bash",
    "-c",
    "setsid bash -c 'while :; do echo >> beat; sleep 0.02; done' & until [ -s beat ]; do :; done; echo on; sleep 60",
  ],
  workspace,
  signal,
  onOutput: () => process.kill(process.pid, "SIGKILL"),
});
