import { NotFound } from "../../../protocol/base/errors.ts";
import { isFields, type JsonFields } from "../../answers/request-values.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { placeOfItem } from "./ids.ts";
import { findResponse, readResponse } from "./kept-response.ts";

/**
 * Items of responses that were kept may be named instead of sent. The Agents SDK sends calls of the server's own tools back without
 * what they gave: these are looked up too, as long as they are there.
 */
export async function withNamedItems(call: EndpointCall, items: readonly JsonFields[]): Promise<readonly JsonFields[]> {
  if (!items.some((item) => isNamed(item) || isBareCall(item))) return items;
  const responses = new Map<string, Promise<JsonFields | undefined>>();
  const lookUp = async (id: string): Promise<JsonFields | undefined> => {
    const place = placeOfItem(id);
    if (!place) return undefined;
    const { response, index } = place;
    const reading = responses.get(response) ?? responseOf(call, response);
    responses.set(response, reading);
    const output = (await reading)?.["output"];
    const found: unknown = Array.isArray(output) ? output[index] : undefined;
    return isFields(found) ? found : undefined;
  };

  const found: JsonFields[] = [];
  for (const item of items) {
    const id = String(item["id"]);
    const named = isNamed(item) || isBareCall(item) ? await lookUp(id) : undefined;
    if (isNamed(item) && !named)
      throw new NotFound(`Item with id '${id.slice(0, 100)}' not found.`, { param: "input" });
    found.push(named ?? item);
  }
  return found;
}

function isNamed({ type }: JsonFields): boolean {
  return type === "item_reference";
}

function isBareCall({ type, output, error }: JsonFields): boolean {
  return type === "mcp_call" && output == null && error == null;
}

/** Undefined for one that is gone. */
async function responseOf(call: EndpointCall, id: string): Promise<JsonFields | undefined> {
  try {
    return await readResponse(call, await findResponse(call, id, "input"));
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
