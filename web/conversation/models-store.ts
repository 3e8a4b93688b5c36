import { useEffect, useSyncExternalStore } from "react";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { ModelLook, ModelState } from "../../src/protocol/agents/model-states.ts";
import { readModelStates } from "../../src/client/model-states.ts";
import { createListeners } from "../browser/listeners.ts";
import { client, server } from "../page/server.ts";

export type ModelNews = { readonly model: string; readonly isThere: boolean; readonly reason?: string };
export type Answerers = {
  readonly agents: readonly AgentView[];
  readonly models: readonly ModelState[];
  readonly looked: readonly ModelLook[];
  /** What came or went since the page was opened, the last one. */
  readonly news: ModelNews | undefined;
  readonly isLoaded: boolean;
};

const everyMs = 30_000;
let known: Answerers = { agents: [], models: [], looked: [], news: undefined, isLoaded: false };
let users = 0;
let stop: (() => void) | undefined;
const listeners = createListeners();

/** Who and what may answer, and how it does: looked up again now and then while somebody sees it. */
export function useAnswerers(): Answerers {
  useEffect(() => {
    if (users++ === 0) stop = beginLooking();
    return () => {
      if (--users === 0) stop?.();
    };
  }, []);
  return useSyncExternalStore(listeners.listen, () => known);
}

export function dismissNews(): void {
  set({ news: undefined });
}

/** Also called when an answer failed. */
export async function refreshModels(): Promise<void> {
  try {
    const [agents, { data: models, looked }] = await Promise.all([client.agents(), readModelStates(server)]);
    set({ agents, models, looked, isLoaded: true, ...newsOf(known.models, models) });
  } catch {
    // What is known stays; the next look may reach the server.
  }
}

function set(change: Partial<Answerers>): void {
  known = { ...known, ...change };
  listeners.tell();
}

function beginLooking(): () => void {
  const look = () => {
    if (document.visibilityState === "visible") void refreshModels();
  };
  void refreshModels();
  const timer = setInterval(look, everyMs);
  addEventListener("focus", look);
  return () => {
    clearInterval(timer);
    removeEventListener("focus", look);
  };
}

const answers = ({ state }: ModelState): boolean => state === "ready" || state === "untried";

/** Whether one that answered does no more, or one answers that did not. */
function newsOf(before: readonly ModelState[], now: readonly ModelState[]): { readonly news?: ModelNews } {
  if (before.length === 0) return {};
  for (const model of now) {
    const was = before.find(({ id }) => id === model.id);
    if ((was !== undefined && answers(was)) === answers(model)) continue;
    return {
      news: { model: model.id, isThere: answers(model), ...(model.reason !== undefined && { reason: model.reason }) },
    };
  }
  const gone = before.find((model) => answers(model) && !now.some(({ id }) => id === model.id));
  return gone ? { news: { model: gone.id, isThere: false } } : {};
}
