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

/** Result of a strategy's parsing of the model's text. `calls` become the step's calls; without calls, `answer` is the answer. */
export type ParsedAnswer = {
  readonly answer?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
};

export type StepOptions = {
  /** Ends the run if the answer has no calls, in the statement that stores it. */
  readonly final?: boolean;
  /** Offer no tools. */
  readonly withoutTools?: boolean;
  /** Offer none but those that the client brought. */
  readonly onlyClientTools?: boolean;
  /** Replaces the agent's instructions. */
  readonly instructions?: string;
  /** Replaces the thread's messages and the instructions. */
  readonly messages?: readonly ModelMessage[];
  /**
   * Replaces the run's own steps, after the conversation before the run: the strategy describes them itself. Messages that can
   * grow take a function, which is given the available space in tokens.
   */
  readonly then?: readonly ModelMessage[] | ((room: number) => readonly ModelMessage[]);
  /**
   * Parses the model's text if it uses a protocol of the strategy's own. The text is streamed and stored as reasoning
   * (`protocolText` returns it), and the parsed result is part of the same commit.
   */
  readonly read?: (text: string) => ParsedAnswer;
  /** Member of the team to act as: uses its instructions, model and settings, and signs messages with its name. */
  readonly as?: AgentDefinition;
  readonly format?: ResponseFormat;
  readonly settings?: ModelSettings;
  /** Renders the thread for this agent; default: as a conversation with it alone. */
  readonly told?: (items: readonly Item[]) => readonly MessageBlock[];
  /** Maximum number of messages before the run's input; overrides the strategy's setting. */
  readonly pastMessages?: number;
  /** Set in rooms with several speakers: an answer that is only a pass ends the run without a message. */
  readonly voice?: RoomVoice;
  /** Cuts a conversation that is too long instead of summarizing it. */
  readonly withoutSummary?: boolean;
};

/** `model`: which one wrote the text, elsewhere. */
export type SayOptions = {
  readonly final?: boolean;
  readonly as?: AgentDefinition;
  readonly model?: string | undefined;
};

/** An item that a strategy records besides messages: a plan, a state or a notice. */
export type Note =
  | { readonly kind: "plan"; readonly body: PlanBody }
  | { readonly kind: "state"; readonly body: StateBody }
  | { readonly kind: "notice"; readonly body: NoticeBody };

/** Inputs of a run, fixed at its start. */
export type RunBasis = {
  readonly agent: AgentDefinition;
  readonly limits: Limits;
  readonly tools: readonly ToolSchema[];
  readonly team: readonly TeamMember[];
  readonly prompts: Readonly<Record<string, string>>;
  readonly settings: StrategySettings;
  /** The task: text of the message that started the run. */
  readonly input: string;
};

/**
 * A strategy's only access to models, tools, agents and the store, so that it can't bypass limits, permissions, ledger or log.
 * Each method returns once its effect is committed and visible in `fold`, and throws if the run can't continue in this process.
 * Never catch what it throws. A `key` names a step of the run, which is done once, whichever process runs it.
 */
export type Turn = {
  readonly run: RunBasis;
  /** Everything done in this run so far, by any process. */
  readonly fold: Fold;
  /** Makes one model call. Does nothing if the fold already contains the step. */
  step(key: string, options?: StepOptions): Promise<void>;
  /** Makes the calls that have no result yet, and returns when each has one. */
  call(calls: readonly ItemOf<"call">[]): Promise<void>;
  /** Writes a message without asking a model. */
  say(key: string, text: string, options?: SayOptions): Promise<void>;
  record(key: string, note: Note): Promise<void>;
  /** Asks a person and waits; resolves to the answer. */
  ask(key: string, question: { readonly text: string; readonly choices?: readonly string[] }): Promise<DecisionBody>;
  /** Makes a tool call of the strategy's own, subject to permissions, limits, approval and ledger; resolves to its result. */
  use(key: string, call: { readonly name: string; readonly arguments: string }): Promise<ResultBody>;
  readonly room: RoomTurns;
  /** Delegates a task to a member of the team, in a run that sees only the task; resolves to its answer, or an error result. */
  delegate(key: string, errand: { readonly agent: string; readonly task: string }): Promise<ToolResult>;
};

/** A turn of an agent in a room: a run of its own in the same thread. */
export type MemberTurn = {
  readonly agent: AgentDefinition;
  /** ID of the message that woke the agent. */
  readonly answers: string;
  /** The person's message that started the chain; its author's permissions apply. Default: those of this run. */
  readonly inNameOf?: string;
  readonly within: Pick<RoomSpec, "tools">;
};

/** Gives turns to agents; used by the room's strategy. */
export type RoomTurns = {
  readonly runId: string;
  /** Returns messages, calls, states and notices of the thread after `seq`, whoever wrote them. */
  since(seq: number): Promise<readonly Item[]>;
  /** Returns the handles of the people in the room. */
  handles(): Promise<readonly string[]>;
  /** Runs a turn until it has ended or waits for a person. */
  take(turn: MemberTurn): Promise<"spoke" | "silent" | "waits">;
  /** Ends this run without making its open calls. */
  stop(why: string): Promise<void>;
  /** Asks a model about the room. The answer is recorded but shown to nobody; empty if the model is unavailable. */
  judge(key: string, question: { readonly model: string; readonly messages: readonly ModelMessage[] }): Promise<string>;
  /** Ends the run. False: somebody has written in the meantime, so the room continues. */
  end(): Promise<boolean>;
  /** Lets the run wait for what its turns wait for. False as for `end`. */
  wait(): Promise<boolean>;
  /** Resolves when `since(seq)` has something new, or when `stop` fires. */
  news(seq: number, stop: AbortSignal): Promise<void>;
};

/**
 * Determines how an agent works. Looks at `turn.fold`, does what is missing, and repeats that until there is an answer. It keeps
 * no state, since it starts again after a crash.
 *
 * @example
 * async function chat(turn: Turn): Promise<void> {
 *   for (;;) {
 *     const { openCalls, answer, steps } = turn.fold;
 *     if (openCalls.length > 0) await turn.call(openCalls);
 *     else if (answer) return;
 *     else await turn.step(String(steps + 1), { final: true, onlyClientTools: true });
 *   }
 * }
 */
export type Strategy = {
  (turn: Turn): Promise<void>;
  /** Names of the prompts it uses; a run keeps their texts from its start. */
  readonly prompts?: readonly string[];
  /** Its agents take over from one another within the run, so the tool `delegate` is not offered. */
  readonly handsOver?: true;
};
