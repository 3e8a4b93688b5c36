/**
 * A process of its own for one command: a shell that is only played, whose loops may take all the time they want and
 * whose files are those of the workspace. It reads its order as JSON from descriptor 3.
 */
import { readFileSync, writeSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { Bash, InMemoryFs, MountableFs, type CpOptions, ReadWriteFs } from "just-bash";
import { workspaceTarget } from "../sandbox.ts";
import { z } from "zod";

/** Input of the program that simulates one command. */
const simulatedOrderSchema = z.object({
  argv: z.array(z.string()).min(1).readonly(),
  workspace: z.string(),
  environment: z.record(z.string(), z.string()).readonly(),
  timeoutMs: z.number(),
  outputBytes: z.number(),
  readBytes: z.number(),
  fileBytes: z.number(),
});
export type SimulatedOrder = z.infer<typeof simulatedOrderSchema>;

/** The workspace. Its own way of copying keeps times by descriptors, which Node.js refuses to a process with few rights. */
class WorkspaceFiles extends ReadWriteFs {
  override async cp(source: string, target: string, options?: CpOptions): Promise<void> {
    const { isDirectory } = await this.lstat(source);
    if (!isDirectory) return this.writeFile(target, await this.readFileBuffer(source));
    if (!options?.recursive) throw new Error(`EISDIR: is a directory, cp '${source}'`);
    if (`${target}/`.startsWith(`${source}/`)) throw new Error(`EINVAL: cannot copy '${source}' into itself`);
    await this.mkdir(target, { recursive: true });
    for (const name of await this.readdir(source)) await this.cp(`${source}/${name}`, `${target}/${name}`, options);
  }
}

const order = simulatedOrderSchema.parse(JSON.parse(readFileSync(3, "utf8")));
const { argv, workspace, environment, timeoutMs, outputBytes, readBytes, fileBytes } = order;
const [program = "", ...given] = argv;
/** What they keep a Python from or tell it about its surroundings, this one does not have. */
const isIsolating = (argument: string) => /^-[BEIPSsu]+$/.test(argument);
const firstMeant = given.findIndex((argument) => !isIsolating(argument));
const args = program === "python3" && firstMeant > 0 ? given.slice(firstMeant) : given;

/** The server counts too, and ends what writes more: there is to be something to count. */
const beyond = 1024 ** 2;

const filesystem = new WorkspaceFiles({ root: workspace, maxFileReadSize: readBytes, maxCopySize: fileBytes });
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
// Anything that is still running, such as threads of its Python, no longer matters.
process.exit(result.exitCode);

/** Whole, and before the process ends: a pipe takes only so much at once. */
function write(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
