import { useQuery } from "@tanstack/react-query";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { ModelLook, ModelState } from "../../src/protocol/agents/model-states.ts";
import { readModelStates } from "../../src/client/model-states.ts";
import { queries } from "../page/queries.ts";
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

const key = ["answerers"];
const everyMs = 30_000;
const unknown: Answerers = { agents: [], models: [], looked: [], news: undefined, isLoaded: false };

/** Who and what may answer, and how it does: looked up again now and then while somebody sees it. */
export function useAnswerers(): Answerers {
  const { data = unknown } = useQuery({
    queryKey: key,
    queryFn: look,
    refetchInterval: everyMs,
    refetchOnWindowFocus: "always",
    gcTime: Infinity,
  });
  return data;
}

export function dismissNews(): void {
  queries.setQueryData<Answerers>(key, (known) => known && { ...known, news: undefined });
}

/** Also called when an answer failed. */
export function refreshModels(): Promise<void> {
  return queries.invalidateQueries({ queryKey: key });
}

async function look(): Promise<Answerers> {
  const [agents, { data: models, looked }] = await Promise.all([client.agents(), readModelStates(server)]);
  const { models: before, news } = queries.getQueryData<Answerers>(key) ?? unknown;
  return { agents, models, looked, isLoaded: true, news, ...newsOf(before, models) };
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
