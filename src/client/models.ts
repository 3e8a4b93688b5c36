import { askJson, type Server } from "./request.ts";

/** `failing`: the last request to it failed. `unavailable`: it can't be asked at all. */
export type ModelState = {
  readonly id: string;
  readonly provider: string;
  readonly state: "ready" | "failing" | "untried" | "unavailable";
  readonly reason?: string;
  /** Rules, not an LLM. */
  readonly demo: boolean;
  /** Of a chain, in order. */
  readonly members: readonly string[];
  /** false: it is only that of an agent. */
  readonly mayName: boolean;
  readonly lastErrorAt?: string;
  /** For admins. */
  readonly lastError?: string;
};
/** A place where a model server was looked for; where exactly, and what came of it in words, is for admins. */
export type ModelLook = {
  readonly kind: string;
  readonly outcome: string;
  readonly url?: string;
  readonly detail?: string;
};
export type ModelStates = { readonly data: readonly ModelState[]; readonly looked: readonly ModelLook[] };

export function readModelStates(server: Server, signal?: AbortSignal): Promise<ModelStates> {
  return askJson(server, "/api/models", { signal });
}
