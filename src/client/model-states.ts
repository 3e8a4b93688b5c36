import type { ModelStates } from "../protocol/agents/model-states.ts";
import { askJson, type ServerAccess } from "./request.ts";

export function readModelStates(server: ServerAccess, signal?: AbortSignal): Promise<ModelStates> {
  return askJson(server, "/api/models", { signal });
}
