import { type Sandbox, type SandboxCommand, type SandboxResult } from "../sandbox.ts";
import {
  type WorkspaceUsage,
  type RunningCommand,
  filesWords,
  leastFileBytes,
  OutOfSpace,
  type Space,
} from "../workspace/space.ts";
import { trimWorkspace } from "./trim-workspace.ts";
import { watchSpace } from "./watch-space.ts";

/** Growth tolerated in a workspace that was too full already; not if it is far beyond its limit. */
const toleratedBytes = 4 * 1024 ** 2;

/**
 * Wraps a sandbox so that commands can't exceed a workspace's limits: space is reserved for each before it starts, one watcher
 * covers all commands in a workspace, and at the limit all of them end and lose what they wrote last.
 */
export function withQuota(sandbox: Sandbox, space: Space): Sandbox {
  const watches = new Map<WorkspaceUsage, AbortController>();

  const stopAll = (account: WorkspaceUsage, words?: string) => {
    if (account.stopping) return;
    const { used, ceiling } = account;
    account.words = words ?? (used.entries > ceiling.entries ? filesWords(account.most) : account.words);
    account.stopping = Promise.withResolvers();
    for (const call of account.calls) call.stop();
  };

  const watch = (account: WorkspaceUsage) => {
    if (watches.has(account)) return;
    const ending = new AbortController();
    watches.set(account, ending);
    const { signal } = ending;
    const onFull = (words?: string) => {
      if (!signal.aborted) stopAll(account, words);
    };
    // A workspace that can't be watched must not grow, so the command is ended.
    watchSpace(account, { space, signal, onFull }).catch(() => onFull());
  };

  /** Returns what it lost, and why; undefined: it stayed within its limits. */
  const leave = async (
    account: WorkspaceUsage,
    call: RunningCommand,
    tolerated: number,
  ): Promise<SandboxResult["full"]> => {
    // It is at work until it is counted: who begins meanwhile must not take for allowed what this one wrote too much.
    if (!account.stopping) {
      const { bytes, entries } = await space.count(account);
      if (bytes > account.ceiling.bytes + tolerated || entries > account.ceiling.entries) stopAll(account);
    }
    account.calls.delete(call);
    const { stopping } = account;
    if (account.calls.size === 0) {
      watches.get(account)?.abort();
      watches.delete(account);
    }
    if (!stopping) return undefined;
    if (account.calls.size === 0 && !stopping.isCutting) {
      stopping.isCutting = true;
      const cut = trimWorkspace(account).finally(() => {
        account.stopping = undefined;
      });
      await cut.then(stopping.resolve, stopping.reject);
    }
    return { words: account.words, lost: await stopping.promise };
  };

  async function run(command: SandboxCommand): Promise<SandboxResult> {
    const { workspace, limits: asked = {}, signal } = command;
    const { diskBytes, diskFiles } = asked;
    const most = {
      ...(diskBytes !== undefined && { bytes: diskBytes }),
      ...(diskFiles !== undefined && { entries: diskFiles }),
    };
    const stopped = new AbortController();
    const call: RunningCommand = { pids: () => Promise.resolve([]), stop: () => stopped.abort() };
    const { account, fileBytes, isFull, release } = await space.begin(call, workspace, { most, signal });
    const tolerated = isFull && account.used.bytes < account.most.bytes + toleratedBytes ? leastFileBytes : 0;
    watch(account);
    let full: SandboxResult["full"];
    let result: SandboxResult;
    try {
      result = await sandbox.run({
        ...command,
        signal: AbortSignal.any([signal, stopped.signal]),
        limits: { ...asked, fileBytes: Math.min(fileBytes, asked.fileBytes ?? Number.POSITIVE_INFINITY) },
        onStarted: (pids) => (call.pids = pids),
      });
    } finally {
      full = await leave(account, call, tolerated).finally(release);
    }
    if (full) return { ...result, end: "disk-full", exitCode: undefined, full };
    return result;
  }

  return {
    report: sandbox.report,
    run: (command) => run(command).catch((error: unknown) => notBegun(error, command)),
    release: (workspace) => sandbox.release(workspace),
    close: () => sandbox.close(),
  };
}

function notBegun(error: unknown, { signal }: SandboxCommand): SandboxResult {
  const nothing = { text: "", bytes: 0, omittedBytes: 0 };
  const result = { exitCode: undefined, stdout: nothing, stderr: nothing, durationMs: 0 };
  if (error instanceof OutOfSpace) return { ...result, end: "disk-full", full: { words: error.message, lost: [] } };
  if (signal.aborted && error === signal.reason) return { ...result, end: "aborted" };
  throw error;
}
