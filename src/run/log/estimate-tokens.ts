import type { Item } from "../../protocol/threads/items.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Model, ModelMessage, ModelRegistry, ToolSchema } from "../../protocol/agents/models.ts";
import { contentWithFiles } from "./attached-files.ts";
import { isErased } from "./fold.ts";

const perMessage = 4;
const perImage = 1000;
/** Characters that are looked at: enough to know the script of a text, however long it is. */
const sampled = 256;

/**
 * About how many tokens: in Latin script four characters each, the usual estimate for English; in other alphabets about
 * two, in Chinese, Japanese and Korean one. Images a flat rate.
 */
export function estimate(content: ModelMessage["content"]): number {
  if (typeof content === "string") return Math.ceil(content.length * perCharacter(content));
  return content.reduce((sum, part) => sum + (part.type === "text" ? estimate(part.text) : perImage), 0);
}

function perCharacter(text: string): number {
  const step = Math.ceil(text.length / sampled) || 1;
  let tokens = 0;
  let count = 0;
  for (let at = 0; at < text.length; at += step, count++) {
    const code = text.charCodeAt(at);
    // Dashes, quotes and arrows of any text stand between the alphabets and Chinese.
    if (code < 0x370 || (code >= 0x2000 && code < 0x2e80)) tokens += 0.25;
    else tokens += code < 0x2000 ? 0.5 : 1;
  }
  return count === 0 ? 0 : tokens / count;
}

export function tokensOf(item: Item): number {
  if (isErased(item)) return 0;
  if (item.kind === "message") return perMessage + estimate(contentWithFiles(item.body));
  if (item.kind === "call") return perMessage + estimate(item.body.arguments);
  if (item.kind === "result") return perMessage + estimate(item.body.content);
  return 0;
}

export function tokensOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + perMessage + estimate(message.content), 0);
}

export function schemaTokens(tools: readonly ToolSchema[]): number {
  return tools.reduce((sum, tool) => sum + Math.ceil(JSON.stringify(tool).length / 4), 0);
}

/** Tokens of prompt and answer together: of its model, if the agent does not want less. */
export function windowOf(
  model: Pick<Model, "contextTokens">,
  agent: { readonly contextTokens?: number | undefined },
): number {
  return Math.min(model.contextTokens, agent.contextTokens ?? Infinity);
}

/** The window of an agent; of a model that can't be had nobody knows it. */
export function windowIn(
  models: Pick<ModelRegistry, "get">,
  agent: Parameters<typeof windowOf>[1] & { readonly model: string },
): number {
  try {
    return windowOf(models.get(agent.model), agent);
  } catch (error) {
    if (error instanceof ColloquyError) return Infinity;
    throw error;
  }
}

/** Tokens that an answer may need if nobody says. */
export function roomFor(window: number): number {
  return Math.min(4096, Math.floor(window / 4));
}
