import type { ModelStates } from "../protocol/agents/model-states.ts";
import { askJson, type Server } from "./request.ts";

export function readModelStates(server: Server, signal?: AbortSignal): Promise<ModelStates> {
  return askJson(server, "/api/models", { signal });
}
