import type { OtherPath, PassedAnswer, PassedRequest } from "../../protocol/agents/models.ts";
import { InvalidInput, ModelError } from "../../protocol/base/errors.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { closedSignal } from "../stream/sse.ts";
import { unknownModel } from "./answer.ts";
import { countedCall } from "./counted-call.ts";
import { isFields, type JsonFields } from "./request-values.ts";

export type PassedCall = PassedRequest & {
  /** As whoever asks names it. */
  readonly model: string;
  /** About how many tokens go in; what the answer says itself stands in their place. */
  readonly tokens: number;
};

/**
 * Passes a request on to the server of a model that speaks OpenAI's protocol: in the call log, held to budgets, and ended
 * when the caller goes. Throws InvalidInput `not_offered` for models of other providers, and for agents.
 */
export async function passRequest(
  call: EndpointCall,
  { model: asked, tokens, ...request }: PassedCall,
): Promise<PassedAnswer> {
  const { models, agents } = call.services;
  if (!models.has(asked)) {
    if (agents.has(asked)) throw notOffered(asked, "is an agent", request.path);
    throw unknownModel(asked, call.services);
  }
  const model = models.get(asked);
  const { pass } = model;
  if (!pass) throw notOffered(asked, `is a model of the provider ${model.provider}`, request.path);
  return countedCall(call, { asked, model: model.id, provider: model.provider }, tokens, async (used) => {
    const answer = await pass(request, closedSignal(call.reply));
    Object.assign(used, tokensIn(answer) ?? { input: tokens, output: 0 });
    return answer;
  });
}

/** The answer as JSON; a server that says something else does not speak the protocol. */
export function passedFields({ bytes }: PassedAnswer, { model, path }: Pick<PassedCall, "model" | "path">): JsonFields {
  const fields = jsonIn(bytes);
  if (!fields)
    throw new ModelError(
      "garbage",
      `Model ${model}: its server answered /${path} with something that is no JSON object.`,
    );
  return fields;
}

function notOffered(name: string, what: string, path: OtherPath): InvalidInput {
  return new InvalidInput(
    `${name} ${what}. /v1/${path} needs a model whose server speaks OpenAI's protocol (provider: openai).`,
    {
      param: "model",
      code: "not_offered",
    },
  );
}

function tokensIn({ contentType, bytes }: PassedAnswer): { input: number; output: number } | undefined {
  const usage = /json/i.test(contentType) ? jsonIn(bytes)?.["usage"] : undefined;
  if (!isFields(usage)) return undefined;
  const count = (...names: readonly string[]) =>
    names.map((name) => usage[name]).find((value) => Number.isSafeInteger(value) && Number(value) >= 0) as
      | number
      | undefined;
  const output = count("output_tokens", "completion_tokens") ?? 0;
  const total = count("total_tokens");
  const input = count("input_tokens", "prompt_tokens") ?? (total === undefined ? undefined : total - output);
  return input === undefined ? undefined : { input: Math.max(0, input), output };
}

function jsonIn(bytes: Uint8Array): JsonFields | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
