import type { FinishReason, Usage } from "../../protocol/agents/models.ts";
import type { PricedCall } from "../../store/metering/model-calls.ts";

/** What one attempt of a step has brought so far; stays readable when the stream breaks off. */
export type ModelAnswer = {
  text: string;
  reasoning: string;
  /** Where in `reasoning` the text in the strategy's protocol begins, if it is told as such. */
  protocolAt: number | undefined;
  calls: { name: string; arguments: string; given?: string }[];
  model: string;
  finish: FinishReason | undefined;
  usage: Usage | undefined;
  opaque: unknown;
  /** Pictures that the model was not shown. */
  unseen: number;
  /** Of all attempts. */
  readonly records: PricedCall[];
  /** Its number. */
  attempt: number;
};
