import { tokensOfTold } from "../../../run/log/message-blocks.ts";
import { schemaTokens } from "../../../run/log/estimate-tokens.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";

/** About how many tokens a request has. Nobody is asked: clients count each tool and message by itself, dozens at once. */
export function tokensOfRequest({ messages, tools = [] }: Pick<AnswerRequest, "messages" | "tools">): number {
  return tokensOfTold(messages) + schemaTokens(tools);
}
