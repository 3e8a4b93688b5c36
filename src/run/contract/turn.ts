import type { AgentDefinition, Limits, RoomSpec } from "../../protocol/agents/agents.ts";
import type {
  DecisionBody,
  Item,
  ItemOf,
  NoticeBody,
  PlanBody,
  ResultBody,
  StateBody,
} from "../../protocol/threads/items.ts";
import type { ModelMessage, ModelSettings, ResponseFormat, ToolSchema } from "../../protocol/agents/models.ts";
import type { TeamMember } from "../../protocol/threads/runs.ts";
import type { StrategySettings } from "../../protocol/agents/strategies.ts";
import type { ToolResult } from "../../protocol/agents/tools.ts";
import type { MessageBlock } from "../log/message-blocks.ts";
import type { Fold } from "../log/fold.ts";
import type { RoomVoice } from "../log/room-voice.ts";

/** What a strategy found in a text of its own protocol. Calls become the step's calls; without them `answer` is the answer. */
export type ParsedAnswer = {
  readonly answer?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
};

export type StepOptions = {
  /** An answer without calls ends the run, in the statement that stores it. */
  readonly final?: boolean;
  /** Offer no tools. */
  readonly withoutTools?: boolean;
  /** Instead of the agent's instructions. */
  readonly instructions?: string;
  /** Instead of the thread's messages, instructions included. */
  readonly messages?: readonly ModelMessage[];
  /**
   * After the conversation up to this run, of which its own steps are left out: the strategy tells them itself. What may
   * become long is made to fit into the room that there is for it, in tokens.
   */
  readonly then?: readonly ModelMessage[] | ((room: number) => readonly ModelMessage[]);
  /**
   * The model writes in a protocol of the strategy's own. Its text is told and stored as reasoning (`protocolText` gives it
   * back), and what was read of it becomes part of the same commit.
   */
  readonly read?: (text: string) => ParsedAnswer;
  /** Works as one of the team: its instructions, model and settings, and its name on what it says. */
  readonly as?: AgentDefinition;
  readonly format?: ResponseFormat;
  readonly settings?: ModelSettings;
  /** How the thread is told to this one, instead of as a conversation with it alone. */
  readonly told?: (items: readonly Item[]) => readonly MessageBlock[];
  /** Messages before the run's own input, at most, instead of the strategy's setting. */
  readonly pastMessages?: number;
  /** It is one of several that speak; an answer that is only a pass ends the run without a message. */
  readonly voice?: RoomVoice;
  /** A past that is too long is cut, not summarised. */
  readonly withoutSummary?: boolean;
};

export type SayOptions = { readonly final?: boolean; readonly as?: AgentDefinition };

/** What a strategy notes that is no message: a plan, what is true from here on. */
export type Note =
  | { readonly kind: "plan"; readonly body: PlanBody }
  | { readonly kind: "state"; readonly body: StateBody }
  | { readonly kind: "notice"; readonly body: NoticeBody };

/** What a run was given at its start. */
export type RunBasis = {
  readonly agent: AgentDefinition;
  readonly limits: Limits;
  readonly tools: readonly ToolSchema[];
  readonly team: readonly TeamMember[];
  readonly prompts: Readonly<Record<string, string>>;
  readonly settings: StrategySettings;
  /** What it is to do: the text of the message that it began with. */
  readonly input: string;
};

/**
 * A strategy's only ways to a model, a tool, an agent or the store, so that none can pass by limits, rights, ledger or log.
 * Each returns when what it did is committed, and `fold` shows it then; each throws when the run can't go on here.
 * A key names a step in the run: what it stands for is done once, whichever process comes by.
 */
export type Turn = {
  readonly run: RunBasis;
  /** All that was done in this run, by whichever process. */
  readonly fold: Fold;
  /** One model call. Does nothing if the step is in the fold already. */
  step(key: string, options?: StepOptions): Promise<void>;
  /** Does the calls that have no result yet; returns when each has one. */
  call(calls: readonly ItemOf<"call">[]): Promise<void>;
  /** A message without a model. */
  say(key: string, text: string, options?: SayOptions): Promise<void>;
  record(key: string, note: Note): Promise<void>;
  /** Waits for a person; resolves to what was answered. */
  ask(key: string, question: { readonly text: string; readonly choices?: readonly string[] }): Promise<DecisionBody>;
  /** A call of the strategy's own, with all that holds for a model's: rights, limits, approval, ledger. Its result. */
  use(key: string, call: { readonly name: string; readonly arguments: string }): Promise<ResultBody>;
  readonly room: RoomTurns;
  /** One of the team does a task in a run of its own, which knows nothing but the task; its answer, or why there is none. */
  delegate(key: string, errand: { readonly agent: string; readonly task: string }): Promise<ToolResult>;
};

/** A turn of an agent in a room: a run of its own in the same thread. */
export type MemberTurn = {
  readonly agent: AgentDefinition;
  /** The message that woke it. */
  readonly answers: string;
  /** The message of a person with which the chain began: its writer's rights count. Absent: those of this run. */
  readonly inNameOf?: string;
  readonly within: Pick<RoomSpec, "tools">;
};

/** What a strategy leads a room with. */
export type RoomTurns = {
  readonly runId: string;
  /** Messages, calls, states and notices of the thread after this place, whoever wrote them. */
  since(seq: number): Promise<readonly Item[]>;
  /** Of the people who are in the room. */
  handles(): Promise<readonly string[]>;
  /** Works on it until it has ended, or waits for a person. */
  take(turn: MemberTurn): Promise<"spoke" | "silent" | "waits">;
  /** Ends this run over its open calls, which are not done. */
  stop(why: string): Promise<void>;
  /** The answer of a model to a question about the room; recorded, and said to nobody. Empty if it can't be had. */
  judge(key: string, question: { readonly model: string; readonly messages: readonly ModelMessage[] }): Promise<string>;
  /** False: somebody has said something meanwhile, so it goes on. */
  end(): Promise<boolean>;
  /** The same for a wait for what the turns wait for. */
  wait(): Promise<boolean>;
  /** Resolves when there is something for `since` after this place, or when it is no longer waited for. */
  news(seq: number, stop: AbortSignal): Promise<void>;
};

/** How an agent works: looks at the fold and does what is missing, until there is an answer. Begins anew after a crash. */
export type Strategy = {
  (turn: Turn): Promise<void>;
  /** Names of the prompts that it works with; a run keeps their texts from its start. */
  readonly prompts?: readonly string[];
  /** Its agents take over from one another within the run, so no tool for that is offered. */
  readonly handsOver?: true;
};
