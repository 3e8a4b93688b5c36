import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../src/protocol/base/ids.ts";
import type { ToolContext } from "../src/protocol/agents/tools.ts";
import { openBubblewrap } from "../src/sandbox/drivers/bubblewrap.ts";
import { createPythonSource } from "../src/sandbox/python-source.ts";
import { removeTree } from "../src/sandbox/workspace/remove-tree.ts";
import { defaultSandboxLimits, type Sandbox, SandboxUnusable } from "../src/sandbox/sandbox.ts";
import type { Workspace } from "../src/sandbox/workspace/workspace.ts";
import { createWorkspaces } from "../src/sandbox/workspace/workspaces.ts";
import type { PythonCodeDeps } from "../src/tools/code/python-code/python-code.ts";

export type TestPlace = PythonCodeDeps & {
  /** A call of nobody's run, in a thread of its own; `told` is what it showed its followers. */
  readonly context: (change?: Partial<ToolContext>) => ToolContext & { readonly told: string[] };
  readonly workspaceOf: (context: Pick<ToolContext, "rootThreadId">) => Promise<Workspace>;
  readonly close: () => Promise<void>;
};

/** Undefined: this machine has no bubblewrap that works; said aloud, since CI has one. */
export async function openTestPlace(): Promise<TestPlace | undefined> {
  const sandbox = await openedSandbox();
  if (!sandbox) return undefined;
  const source = { open: async () => sandbox };
  const folder = await mkdtemp(join(tmpdir(), "colloquy-code-"));
  const workspaces = createWorkspaces({ folder });
  return {
    sandbox: source,
    workspaces,
    hosts: [],
    // On a machine that is busy with other tests much takes longer.
    limits: { ...defaultSandboxLimits, timeoutMs: 120_000 },
    python: createPythonSource(source, { searchPath: "/usr/bin:/usr/local/bin" }),
    context(change) {
      const told: string[] = [];
      const threadId = newId();
      return {
        caller: { userId: newId(), name: "Ada", role: "user", permissions: [], via: "local" },
        threadId,
        rootThreadId: threadId,
        runId: newId(),
        call: { step: "1", index: 0 },
        signal: new AbortController().signal,
        idempotencyKey: newId(),
        query: async () => [],
        step: () => Promise.reject(new Error("no model here")),
        answers: [],
        ownHeaders: () => ({}),
        progress: (text) => told.push(text),
        told,
        ...change,
      };
    },
    workspaceOf: ({ rootThreadId }) => workspaces.open(rootThreadId),
    async close() {
      await sandbox.close();
      await removeTree(folder);
    },
  };
}

async function openedSandbox(): Promise<Sandbox | undefined> {
  try {
    return await openBubblewrap({}, AbortSignal.timeout(10_000));
  } catch (error) {
    if (!(error instanceof SandboxUnusable)) throw error;
    console.warn(`LEFT OUT: no bubblewrap on this machine (${error.message})`);
    return undefined;
  }
}
