import { tellLeftOut } from "../../answers/left-out.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { NewItem } from "../../../protocol/threads/items.ts";
import { toHistory } from "../../answers/agent-request.ts";
import { isFields, refuse } from "../../answers/request-values.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { decodeInput } from "./decode-input.ts";
import { withNamedItems } from "./named-items.ts";
import { createSentFiles } from "./sent-files.ts";

/** As many as OpenAI takes at once. */
const mostAdded = 20;

/** The types that a conversation keeps; the rest says nothing to a model here. */
const kept = /^(message|(function_call|custom_tool_call)(_output)?|mcp_call|item_reference)$/;

/** Reads what a client adds to a conversation, which nobody answers: a call comes with its result. */
export async function readAddedItems(call: EndpointCall, list: unknown): Promise<readonly NewItem[]> {
  if (!Array.isArray(list) || list.length === 0 || list.length > mostAdded)
    refuse("items", `must be a list of 1 to ${mostAdded} items`);
  const items = list.map((item: unknown, index) =>
    isFields(item) ? item : refuse(`items[${index}]`, "must be an object"),
  );
  const types = new Set(items.map(({ type }) => String(type ?? "message").slice(0, 64)));
  tellLeftOut(
    call.reply,
    [...types].filter((type) => !kept.test(type) && type !== "mcp_approval_response"),
  );
  const files = createSentFiles();
  try {
    const { messages, approvals, results } = decodeInput(await withNamedItems(call, items), files.keep);
    if (approvals.length > 0) refuse("input", "an mcp_approval_response answers a run: send it as input of a response");
    if (results.size > 0)
      refuse(
        "input",
        `the output for ${[...results].join(", ").slice(0, 100)} comes without its call: add both at once`,
      );
    const resolved = await files.resolve(call, { messages });
    return toHistory(resolved.messages, `added:${newId()}`);
  } catch (error) {
    throw error instanceof InvalidInput && error.detail.param?.startsWith("input")
      ? new InvalidInput(error.message.replace(/^input/, "items"), {
          ...error.detail,
          param: error.detail.param.replace(/^input/, "items"),
          cause: error,
        })
      : error;
  }
}
