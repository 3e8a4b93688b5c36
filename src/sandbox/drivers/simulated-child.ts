/**
 * A process of its own for one command: a shell that is only played, whose loops may take all the time they want and
 * whose files are those of the workspace. It reads its order as JSON from descriptor 3.
 */
import { readFileSync, writeSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { Bash, InMemoryFs, MountableFs } from "just-bash";
import { workspaceTarget } from "./sandbox.ts";
import { WorkspaceFiles } from "./simulated-files.ts";
import { simulatedOrderSchema } from "./simulated-order.ts";

const order = simulatedOrderSchema.parse(JSON.parse(readFileSync(3, "utf8")));
const { argv, workspace, environment, timeoutMs, outputBytes, fileBytes } = order;
const [program = "", ...given] = argv;
/** What they keep a Python from or tell it about its surroundings, this one does not have. */
const isIsolating = (argument: string) => /^-[BEIPSsu]+$/.test(argument);
const firstMeant = given.findIndex((argument) => !isIsolating(argument));
const args = program === "python3" && firstMeant > 0 ? given.slice(firstMeant) : given;

/** The server counts too, and ends what writes more: there is to be something to count. */
const beyond = 1024 ** 2;

const filesystem = new WorkspaceFiles({ root: workspace, maxFileReadSize: fileBytes, maxCopySize: fileBytes });
const bash = new Bash({
  fs: new MountableFs({
    base: new InMemoryFs({ "/tmp/.keep": "" }),
    mounts: [{ mountPoint: workspaceTarget, filesystem }],
  }),
  cwd: workspaceTarget,
  env: { ...environment, HOME: workspaceTarget, LANG: "C.UTF-8" },
  python: true,
  executionLimits: {
    maxExecutionTimeMs: timeoutMs,
    maxPythonTimeoutMs: timeoutMs,
    maxSqliteTimeoutMs: timeoutMs,
    maxOutputSize: outputBytes + beyond,
    maxFileSystemBytes: fileBytes,
  },
});

const stdin = (await buffer(process.stdin)).toString("latin1");
const quoted = `'${program.replaceAll("'", `'\\''`)}'`;
const result = await bash.exec(quoted, { args, stdin, stdinKind: "bytes", rawScript: true });
const isBytes = result.stdoutKind === "bytes" || result.stdoutEncoding === "binary";
write(1, Buffer.from(result.stdout, isBytes ? "latin1" : "utf8"));
write(2, Buffer.from(result.stderr));
// What it may still hold, such as the threads of its Python, has no more to say.
process.exit(result.exitCode);

/** Whole, and before the process ends: a pipe takes only so much at once. */
function write(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
