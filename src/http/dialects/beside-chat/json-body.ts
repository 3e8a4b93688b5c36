import type { PassedRequest } from "../../../protocol/agents/models.ts";
import type { JsonFields } from "../../answers/request-values.ts";

/** The body as it was sent, for the name that the provider knows. */
export function jsonBody(body: JsonFields): PassedRequest["bodyFor"] {
  return async (model) => ({ contentType: "application/json", bytes: JSON.stringify({ ...body, model }) });
}
