import type { AttachedFile, MessageBody } from "../../protocol/threads/items.ts";
import type { JsonFields } from "./request-values.ts";
import type {
  ModelMessage,
  ModelSettings,
  ResponseFormat,
  ToolChoice,
  ToolSchema,
} from "../../protocol/agents/models.ts";

/** A user's message may bring files, by the ids of their uploads. */
export type UserMessage = Extract<ModelMessage, { role: "user" }> & {
  readonly fileIds?: readonly string[];
  /** Once they are looked up. */
  readonly files?: readonly AttachedFile[];
};
/** With `saidAs` it is a part of the conversation; else the latest alone holds. */
export type SystemMessage = Extract<ModelMessage, { role: "system" }> & Pick<MessageBody, "saidAs">;
export type AnswerMessage = Exclude<ModelMessage, { role: "user" | "system" }> | UserMessage | SystemMessage;

/** What a dialect asks of a model or an agent, in our own words. */
export type AnswerRequest = {
  /** A model's name, or an agent's id. */
  readonly model: string;
  readonly messages: readonly AnswerMessage[];
  /** For this answer only: no part of the conversation. */
  readonly instructions?: string;
  readonly stream: boolean;
  /** Those that the client runs itself. */
  readonly tools?: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice;
  readonly format?: ResponseFormat;
  readonly settings: ModelSettings;
  /** What we don't know ourselves, for a provider that speaks the same protocol. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly sessionId?: string;
  /** Behaviour of an agent's run at a limit; default: the agent's own setting. */
  readonly onLimit?: "pause" | "stop";
  /** Calls of tools that an agent's run may make. */
  readonly toolCalls?: number;
  /** What the protocol tells back of the request when a run of it is looked up: kept with the run. */
  readonly echo?: JsonFields;
};
