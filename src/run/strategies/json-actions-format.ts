import type { ResponseFormat } from "../../protocol/models.ts";
import type { KnownNames } from "./json-actions-parse.ts";

/** The action as a JSON schema, for models that can be held to one. Not strict: nothing is said of what stands in `args`. */
export function actionFormat({ tools, agents }: Required<KnownNames>): ResponseFormat {
  const actions = ["final", ...(tools.length > 0 ? ["use_tool"] : []), ...(agents.length > 0 ? ["delegate"] : [])];
  const properties = {
    thought: { type: "string" },
    action: { type: "string", enum: actions },
    tool: oneOrNone(tools),
    target_agent: oneOrNone(agents),
    args: { type: "object" },
    answer: { type: "string" },
  };
  const schema = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { type: "json-schema", name: "action", schema, strict: false };
}

function oneOrNone(names: readonly string[]): object {
  return names.length > 0 ? { type: ["string", "null"], enum: [null, ...names] } : { type: "null" };
}
