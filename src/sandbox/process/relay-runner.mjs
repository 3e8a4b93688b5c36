/**
 * Runs in a sandbox: `node relay-runner.mjs <socket> <port> <program> [argument …]`. Listens on 127.0.0.1:<port>, passes
 * each connection to the unix socket, runs the program, and ends with its exit code.
 */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [socket, port, program, ...rest] = process.argv.slice(2);

const server = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: socket, allowHalfOpen: true });
  inner.pipe(outer).pipe(inner);
  for (const [one, other] of [
    [inner, outer],
    [outer, inner],
  ]) {
    one.on("error", () => other.destroy());
  }
});

server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, rest, { stdio: "inherit" });
  child.on("error", (error) => {
    process.stderr.write(`${program}: ${error.message}\n`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
