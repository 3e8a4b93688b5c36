import type { FinishReason, Usage } from "../../protocol/agents/models.ts";
import type { PricedCall } from "../../store/metering/model-calls.ts";

/** Answer of one attempt of a step so far; stays readable when the stream is interrupted. */
export type ModelAnswer = {
  text: string;
  reasoning: string;
  /** Where in `reasoning` the text in the strategy's protocol begins, if it is told as such. */
  protocolAt: number | undefined;
  calls: { name: string; arguments: string; given?: string }[];
  model: string;
  finish: FinishReason | undefined;
  stopSequence: string | undefined;
  usage: Usage | undefined;
  opaque: unknown;
  /** Pictures that the model was not shown. */
  unseen: number;
  /** Records of all attempts. */
  readonly records: PricedCall[];
  /** Its number. */
  attempt: number;
};
