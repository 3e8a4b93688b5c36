import { messageOf } from "../protocol/base/errors.ts";
import type { SandboxKind, SandboxState } from "../protocol/agents/sandboxes.ts";
import { type Sandbox, type SandboxDriver, type SandboxSource, SandboxUnusable } from "./sandbox.ts";
import { withQuota } from "./quota/with-quota.ts";
import { selfTest } from "./self-test.ts";
import { createSpace, type Space } from "./workspace/space.ts";

/** Order in which `auto` tries the drivers. A driver without protection is used only if it is named. */
const order: readonly SandboxDriver["name"][] = ["bubblewrap", "docker", "podman", "landlock", "simulated"];

export type SandboxOptions = {
  readonly kind: SandboxKind;
  readonly drivers: readonly SandboxDriver[];
  /** Shared with whoever else writes into workspaces; absent: one of its own. */
  readonly space?: Space;
};

type SandboxChoice = { readonly sandbox: Sandbox | undefined; readonly tried: SandboxState["tried"] };

/** Chosen at the first use; whoever comes meanwhile waits for the same choice. */
export function createSandboxSource(wish: SandboxOptions): SandboxSource {
  const closing = new AbortController();
  let chosen: Promise<SandboxChoice> | undefined;
  let known: SandboxState | undefined;
  const choice = () => (chosen ??= choose(wish, closing.signal));
  return {
    known: () => known,
    async open() {
      const { sandbox, tried } = await choice();
      if (sandbox) return sandbox;
      throw new SandboxUnusable(whyNone(wish.kind, tried));
    },
    async state() {
      const { sandbox, tried } = await choice();
      const { driver, grade, gaps } = sandbox?.report ?? { driver: "none", grade: "none", gaps: [] };
      return (known ??= { driver, grade, gaps, tried });
    },
    async release(workspace) {
      const { sandbox } = (await chosen) ?? {};
      await sandbox?.release(workspace);
    },
    async close() {
      closing.abort();
      const { sandbox } = (await chosen) ?? {};
      await sandbox?.close();
    },
  };
}

/** Opens a sandbox now, for callers that can't continue without one. Throws SandboxUnusable with everything that was tried. */
export async function openSandbox({
  signal,
  ...wish
}: SandboxOptions & { readonly signal: AbortSignal }): Promise<Sandbox> {
  const { sandbox, tried } = await choose(wish, signal);
  if (sandbox) return sandbox;
  throw new SandboxUnusable(whyNone(wish.kind, tried));
}

/** The driver that is named, or the first of all that works. What does not work is told, not thrown. */
async function choose(
  { kind, drivers, space = createSpace() }: SandboxOptions,
  signal: AbortSignal,
): Promise<SandboxChoice> {
  const tried: { driver: string; reason: string }[] = [];
  for (const name of kind === "auto" ? order : [kind]) {
    const driver = drivers.find((each) => each.name === name);
    if (!driver) continue;
    try {
      return { sandbox: withQuota(await openTried(driver, signal), space), tried };
    } catch (error) {
      tried.push({ driver: name, reason: messageOf(error) });
    }
  }
  return { sandbox: undefined, tried };
}

function whyNone(kind: SandboxKind, tried: SandboxState["tried"]): string {
  if (kind === "none") return "commands are switched off here (sandbox.kind is none)";
  return `no sandbox is available to run commands. ${tried.map(({ driver, reason }) => `${driver}: ${reason}`).join("; ")}`;
}

/** A driver that promises something must show it; one that only plays programs has nothing that could break out. */
async function openTried(driver: SandboxDriver, signal: AbortSignal): Promise<Sandbox> {
  const sandbox = await driver.open(signal);
  if (sandbox.report.grade === "none" || !sandbox.report.runsPrograms) return sandbox;
  try {
    const report = await selfTest(sandbox, signal);
    return {
      report,
      run: (command) => sandbox.run(command),
      release: (workspace) => sandbox.release(workspace),
      close: () => sandbox.close(),
    };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}
