import type { ModelStates } from "../protocol/model-states.ts";
import { askJson, type Server } from "./request.ts";

export function readModelStates(server: Server, signal?: AbortSignal): Promise<ModelStates> {
  return askJson(server, "/api/models", { signal });
}
