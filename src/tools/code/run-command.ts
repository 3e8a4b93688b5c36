import { messageOf } from "../../protocol/base/errors.ts";
import type { FileChange } from "../../protocol/threads/files.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { ToolContext } from "../../protocol/agents/tools.ts";
import type { SandboxCommand, SandboxLimits, SandboxResult, SandboxSource } from "../../sandbox/sandbox.ts";
import type { Workspace } from "../../sandbox/workspace/workspace.ts";
import { isLong, shortened } from "./command-result.ts";

/** What tools that run code work with. */
export type CodeToolDeps = {
  /** Opened at the first use; rejects with what is missing. */
  readonly sandbox: Pick<SandboxSource, "open">;
  readonly workspaces: { open(threadId: string): Promise<Workspace> };
  /** As the operator set them; `timeoutMs` is of commands that ask for no time of their own. */
  readonly limits: SandboxLimits;
  /** The hosts that commands reach; usually none. */
  readonly hosts: readonly string[];
};

export type CommandSpec = Pick<SandboxCommand, "argv" | "env" | "stdin" | "mounts" | "relay"> & {
  /** The operator's when absent. */
  readonly timeoutSeconds?: number | undefined;
  /** Stops it before the call's own signal does. */
  readonly signal?: AbortSignal;
};

export type CommandOutcome = Pick<SandboxResult, "end" | "exitCode" | "durationMs" | "full"> & {
  /** Both streams for a model: shortened if they are long, with the name of the file that has the rest. */
  readonly output: string;
  readonly stdout: string;
  readonly stderr: string;
  /** What became of files of the workspace. */
  readonly files: readonly FileChange[];
  readonly limits: SandboxLimits;
  readonly workspace: Workspace;
};

/** For descriptions of tools. */
export function networkText({ hosts }: Pick<CodeToolDeps, "hosts">): string {
  return hosts.length === 0 ? "Network access is disabled." : `Only these hosts can be reached: ${hosts.join(", ")}.`;
}

/** Of a long output so much is kept in a file. */
const maxKept = 4 * 1024 * 1024;

/** Runs a command in the workspace of the call's thread. Throws when it was aborted, and when there is no sandbox. */
export async function runCommand(
  { sandbox, workspaces, limits: set }: CodeToolDeps,
  context: ToolContext,
  { timeoutSeconds, signal = context.signal, env, ...command }: CommandSpec,
): Promise<CommandOutcome> {
  const opened = await sandbox.open();
  const workspace = await workspaces.open(context.rootThreadId);
  const limits = timeoutSeconds === undefined ? set : { ...set, timeoutMs: timeoutSeconds * 1000 };
  const before = await workspace.snapshot();
  const live = tellTogether(context.progress);
  let kept = "";
  try {
    const { stdout, stderr, ...ended } = await opened.run({
      ...command,
      env: { ...env, COLLOQUY_IDEMPOTENCY_KEY: context.idempotencyKey },
      workspace: workspace.folder,
      limits,
      signal,
      onOutput(text) {
        if (kept.length < maxKept) kept += text.slice(0, maxKept - kept.length);
        live.add(text);
      },
    });
    signal.throwIfAborted();
    if (ended.end === "aborted") throw new Error("The command was stopped, since its sandbox was closed.");
    const { files } = await workspace.changesSince(before);
    const both = stdout.text + stderr.text;
    return {
      ...ended,
      output: isLong(both) ? `${shortened(both)}\n${await keep(workspace, kept)}` : both,
      stdout: shortened(stdout.text),
      stderr: shortened(stderr.text),
      files,
      limits,
      workspace,
    };
  } finally {
    live.end();
  }
}

/** Where the agent finds the whole of a long output, as it came. */
async function keep(workspace: Workspace, text: string): Promise<string> {
  const path = `.colloquy/output-${newId().slice(-12)}.txt`;
  try {
    await workspace.write(path, text);
    return `[The ${text.length < maxKept ? "whole" : "beginning"} is in ${path}: ${text.length} characters.]`;
  } catch (error) {
    return `[The rest could not be kept: ${messageOf(error)}]`;
  }
}

const tellEveryMs = 200;
const maxTold = 2_000;

/** What comes close together is told together; of much, its end. */
function tellTogether(tell: (text: string) => void): { add(text: string): void; end(): void } {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== "") tell(waiting.toWellFormed());
    waiting = "";
  };
  return {
    add(text) {
      waiting = (waiting + text).slice(-maxTold);
      timer ??= setTimeout(flush, tellEveryMs);
    },
    end: flush,
  };
}
