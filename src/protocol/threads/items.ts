import type { Citation } from "../knowledge/citations.ts";
import type { JsonSchema, ModelCall, Usage } from "../agents/models.ts";
import type { RunError, WaitReason } from "./runs.ts";
import type { Source } from "../knowledge/sources.ts";

export type MessageContent = string | readonly ContentPart[];
export type ContentPart = { type: "text"; text: string } | { type: "image"; url: string };

/** A file that came with a message: where tools find it, and what a model is told of it. */
export type AttachedFile = {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** In the workspace of the thread. */
  readonly path: string;
  readonly about: string;
  /** Models are shown it. */
  readonly isImage?: boolean;
};

/** Of what a forked run did not do itself: the run that it was forked from, where it was done. */
type ForkedFrom = string;

/** `system`: what a caller's dialect sent as further instructions; they follow the agent's own, never replace them. */
export type MessageBody = {
  readonly role: "user" | "assistant" | "system";
  readonly content: MessageContent;
  /** The role that a `system` message came with, if it is a part of the conversation. Of all others the latest alone holds. */
  readonly saidAs?: "system" | "developer";
  readonly reasoning?: string;
  /** Where in `reasoning` begins what the model wrote in its strategy's own protocol; `content` is what was read of it. */
  readonly protocolAt?: number;
  /** What the provider wants back unchanged; never leaves the server. */
  readonly opaque?: unknown;
  /** Which model served, why it stopped, what it used; on an assistant's message. */
  readonly model?: string;
  readonly finish?: string;
  /** Which of the caller's `stop` texts ended it, where the provider says so. */
  readonly stopSequence?: string;
  readonly usage?: Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens">;
  /** What it cost, in the unit of `prices`, where they are known; on an assistant's message. */
  readonly cost?: number;
  /** From when the model was asked, failed attempts included, to its first sign and to its end; on an assistant's message. */
  readonly timing?: { readonly firstMs?: number; readonly totalMs: number };
  /** What it asked a tool to do, in a step that the tool asked for: the tool makes these calls itself, so they are no items. */
  readonly calls?: readonly ModelCall[];
  /** The last seq that the model saw; what was said after it, this does not answer. On an assistant's message. */
  readonly seen?: number;
  /** Pictures in whose place the model read a line of text, since it takes none; on an assistant's message. */
  readonly unseenPictures?: number;
  /** What the answer cites of the run's results, checked; on the answer of a run. */
  readonly citations?: readonly Citation[];
  /** Stopped by a person or a limit before its end. */
  readonly partial?: boolean;
  /** What came with it; on a user's message. */
  readonly files?: readonly AttachedFile[];
  /** The agent it was written to; on the message that began a run. */
  readonly to?: string;
  /** Written by somebody for whom the run does not work. */
  readonly untrusted?: true;
  /** Whose text it is, where that is known. */
  readonly from?: readonly string[];
  /** An answer in a person's words: who wrote them, when (ISO 8601), and the item that the model wrote, beside which it stands. */
  readonly edited?: { readonly by: string; readonly at: string; readonly of: string };
  /** The message of which this is a copy, asked anew: its answer stands beside the earlier ones. */
  readonly again?: string;
  readonly kept?: ForkedFrom;
};

/** `arguments` is JSON text as the model wrote it. `client`: the caller runs it and brings the result. */
export type CallBody = {
  readonly name: string;
  readonly arguments: string;
  readonly target: "server" | "client";
  readonly kept?: ForkedFrom;
};

/** `data` is the tool's own value, for clients; models read `content`. */
export type ResultBody = {
  readonly content: string;
  readonly isError?: boolean;
  readonly data?: unknown;
  /** What it is made of, for clients to show. */
  readonly sources?: readonly Source[];
  /** Holds text that others wrote: from here on the run asks before it lets anything out. */
  readonly untrusted?: true;
  /** Whose text that is: hosts, MCP servers (`mcp:github`), tools. */
  readonly from?: readonly string[];
  /** The call was not run, or its outcome is not known. */
  readonly outcome?: "not-run" | "interrupted" | "unknown";
  readonly kept?: ForkedFrom;
};

/**
 * Open while no `decision` names it. An `approval` is of exactly the arguments whose hash it holds; a `limit` says which
 * one was reached; an `unknown` is a write of which nobody knows whether it was done; a `question` is what a tool or a
 * strategy must know before it goes on; at a `provider` no model could be had, and the run goes on by itself when one can.
 */
export type QuestionBody = {
  readonly reason: "approval" | "limit" | "unknown" | "question" | "provider";
  readonly text: string;
  /** Of a `question`: what may be chosen, or the form that is to be filled in. */
  readonly choices?: readonly string[];
  readonly schema?: JsonSchema;
  /** What the tool that asks wants back; never leaves the server. */
  readonly state?: unknown;
  readonly tool?: string;
  readonly arguments?: string;
  readonly argumentsHash?: string;
  /** Of an `approval`: what brought in text of others, which may be what asks for the call. */
  readonly outside?: readonly string[];
  /** Of such an `approval`: who would be told something. It can be allowed for all of the conversation (`here`). */
  readonly receivers?: readonly string[];
  /** Of an `approval`: where the call would run, if that is no place for what is not trusted. */
  readonly sandbox?: { readonly driver: string; readonly grade: string };
  /** Of an `approval`: "always" would not lift it. */
  readonly eachTime?: true;
  readonly limit?: string;
  /** Of a `provider`: what is the matter. */
  readonly outage?: Outage;
};

/** Why a model could not be had. */
export type Outage = {
  /** The name that it was asked by. */
  readonly model: string;
  /** What its provider calls it; of a chain, the first of it. */
  readonly name?: string;
  /** Whose server it is, if that is known: `Ollama`. */
  readonly provider?: string;
  /** Where: `127.0.0.1:11434`. */
  readonly host?: string;
  /** `model_unreachable` and the like. */
  readonly code: string;
  /** It is asked again without anybody's doing. */
  readonly repeats: boolean;
};

/**
 * What answers which reason: approval: allow, deny; limit: continue, stop; unknown: done, failed, retry; question: answer,
 * decline; provider: retry (now), model (another one, named in the text), stop.
 */
export const decisions = {
  approval: ["allow", "deny"],
  limit: ["continue", "stop"],
  unknown: ["done", "failed", "retry"],
  question: ["answer", "decline"],
  provider: ["retry", "model", "stop"],
} as const satisfies Record<QuestionBody["reason"], readonly string[]>;
export type Decision = (typeof decisions)[keyof typeof decisions][number];

export type DecisionBody = {
  readonly question: string;
  /** `withdrawn`: nobody decided before the run ended; now that it goes on, what is still in doubt is asked anew. */
  readonly decision: Decision | "withdrawn";
  /** The reason for a denial; what is known of an unknown outcome; the answer; the name of another model. */
  readonly text?: string;
  /** JSON text: what an approved call is done with instead of what the model asked for, or the form as it was filled in. */
  readonly arguments?: string;
  /** These may be told things in this conversation, whatever it reads. */
  readonly here?: readonly string[];
  /** The person has read what came from outside before. */
  readonly read?: true;
};
export type PlanBody = {
  readonly steps: readonly {
    readonly text: string;
    readonly state: "open" | "running" | "done" | "failed" | "skipped";
  }[];
};
/**
 * Stands in prompts for all that was said on its branch up to `upToSeq`; `system`: what then held of a caller's system text;
 * `said`: the system messages that are a part of the conversation.
 */
export type SummaryBody = {
  readonly content: string;
  readonly upToSeq: number;
  readonly system?: string;
  readonly said?: readonly string[];
};

/** What is true from here on; `run-wait`, `run-end` and `run-resume` make a run's course part of the one log. */
export type StateBody =
  | {
      readonly type: "run-wait";
      readonly reason: WaitReason;
      readonly text?: string;
      /** With the reason `provider`: as it would stand in the end of a run that does not wait. */
      readonly error?: RunError;
    }
  | {
      readonly type: "run-end";
      readonly status: "done" | "failed" | "cancelled";
      readonly error?: RunError;
    }
  /** It had ended, and goes on: as `status` says it had, with the code of its error. */
  | { readonly type: "run-resume"; readonly status: "failed" | "cancelled"; readonly code?: string }
  /** What the run had at this place before, the result of a call or a part of an answer, is no more: it is done anew. */
  | { readonly type: "withdrawal" }
  /** Which strategy was picked for the run, and why. */
  | { readonly type: "strategy"; readonly strategy: string; readonly reason?: string }
  /** A person chose the branch that ends in its parent: the conversation goes on there. */
  | { readonly type: "branch" }
  /** In a room: an agent's turn begins, woken by a message. */
  | {
      readonly type: "turn";
      readonly agent: string;
      readonly answers: string;
      readonly parentRun: string;
      readonly rootRun: string;
    }
  /** In a room: the agent had nothing to say. */
  | { readonly type: "pass" }
  /** A person has read what came from outside so far, and finds nothing in it that wants something of the model. */
  | { readonly type: "outside-read"; readonly from: readonly string[] }
  /** In a room: from here on agents are told nothing of before. */
  | { readonly type: "chapter" };

/** `about`: the message that it is about. `values`: what `text` says by its `code`, for who says it in another language. */
export type NoticeBody = {
  readonly text: string;
  readonly code?: string;
  readonly about?: string;
  readonly values?: NoticeValues;
};
export type NoticeValues = Readonly<Record<string, string | number | readonly string[]>>;

export type ItemBodies = {
  readonly message: MessageBody;
  readonly call: CallBody;
  readonly result: ResultBody;
  readonly question: QuestionBody;
  readonly decision: DecisionBody;
  readonly plan: PlanBody;
  readonly summary: SummaryBody;
  readonly state: StateBody;
  readonly notice: NoticeBody;
};
export type ItemKind = keyof ItemBodies;

/** One immutable entry of a thread. */
export type Item = {
  [Kind in ItemKind]: {
    /** UUIDv7. */
    readonly id: string;
    readonly threadId: string;
    /** 1, 2, 3 … in the thread. */
    readonly seq: number;
    readonly kind: Kind;
    readonly parentId: string | null;
    readonly runId: string | null;
    /** The step it belongs to; with `index` it names a call and its result. */
    readonly step: string | null;
    readonly index: number | null;
    readonly attempt: number | null;
    /** The agent or user that wrote it. */
    readonly author: string | null;
    readonly body: ItemBodies[Kind];
    readonly createdAt: string;
  };
}[ItemKind];
export type ItemOf<Kind extends ItemKind> = Extract<Item, { kind: Kind }>;

/** An item before it has its place; the store gives `seq`, `threadId` and the time. */
export type NewItem = {
  [Kind in ItemKind]: {
    readonly id: string;
    readonly kind: Kind;
    readonly step?: string;
    readonly index?: number;
    readonly attempt?: number;
    readonly author?: string;
    readonly body: ItemBodies[Kind];
  };
}[ItemKind];

/** The call id that models and clients see: the call item's own id, so it is unique whatever a provider sent. */
export function callIdOf(itemId: string): string {
  return "call_" + itemId.replaceAll("-", "");
}

/** The item behind a call id of ours; undefined for anybody else's. */
export function itemIdOfCall(callId: string): string | undefined {
  const match = /^call_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(callId);
  return match ? match.slice(1).join("-") : undefined;
}

/** The text of a content, images left out. */
export function textOf(content: MessageContent): string {
  return typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
