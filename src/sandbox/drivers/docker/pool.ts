import type { ContainerKind } from "./arguments.ts";
import type { Container } from "./container.ts";

/** Containers by what they are made for: one command at a time in each, the last one kept a while for the next. */
export type ContainerPool = {
  /** Whoever is done gives it back. */
  take(kind: ContainerKind, signal: AbortSignal): Promise<Container>;
  giveBack(kind: ContainerKind, container: Container): Promise<void>;
  /** Those of one workspace, or all: busy ones too. */
  close(workspace?: string): Promise<void>;
};

type IdleContainer = { readonly container: Container; readonly timer: NodeJS.Timeout };

const keptMs = 5 * 60_000;
const maxKept = 8;

export function createContainerPool(
  start: (kind: ContainerKind, signal: AbortSignal) => Promise<Container>,
): ContainerPool {
  /** The longest kept first. */
  const kept = new Map<string, IdleContainer>();
  const all = new Map<Container, string>();

  const end = async (container: Container) => {
    all.delete(container);
    await container.close();
  };
  const unkeep = (key: string) => {
    const found = kept.get(key);
    clearTimeout(found?.timer);
    kept.delete(key);
    return found?.container;
  };
  const drop = async (key: string) => {
    const container = unkeep(key);
    if (container) await end(container);
  };

  return {
    async take(kind, signal) {
      const found = unkeep(JSON.stringify(kind));
      // Somebody may have removed it.
      if (found && (await answers(found))) return found;
      if (found) void end(found);
      const container = await start(kind, signal);
      all.set(container, kind.workspace);
      return container;
    },
    async giveBack(kind, container) {
      const key = JSON.stringify(kind);
      if (!all.has(container)) return;
      if (kept.has(key) || !container.isAlive()) return end(container);
      const timer = setTimeout(() => void drop(key), keptMs).unref();
      kept.set(key, { container, timer });
      const [oldest] = kept.keys();
      if (kept.size > maxKept && oldest !== undefined) await drop(oldest);
    },
    async close(workspace) {
      const ending = [...all].filter(([, of]) => workspace === undefined || of === workspace);
      for (const [key, { container }] of [...kept]) if (ending.some(([each]) => each === container)) unkeep(key);
      await Promise.all(ending.map(([container]) => end(container)));
    },
  };
}

function answers({ endProcesses }: Container): Promise<boolean> {
  return endProcesses().then(
    () => true,
    () => false,
  );
}
