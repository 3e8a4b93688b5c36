import type { ConversationSettings } from "./conversation-settings.ts";
import type { KeptConversations } from "./kept-conversations.ts";
import type { NewThread, PlacedThreadsOf } from "./placed-threads.ts";
import type { BroughtResult, BroughtWith } from "./brought-results.ts";
import type { ArgumentPattern } from "../protocol/agents/approval.ts";
import type { RunRecord, GrantView, RunWrite } from "../protocol/threads/run-shapes.ts";
import type { RunAbout } from "../protocol/threads/run-trace.ts";
import type { RunDetails } from "./traced-run.ts";
import type { StepPrompt } from "../protocol/threads/step-prompt.ts";
import type { AgentDefinition, OnOutage } from "../protocol/agents/agents.ts";
import type { Caller } from "../protocol/base/callers.ts";
import type { Cursor, RunEvent } from "../protocol/threads/events.ts";
import type { AttachedFile, MessageContent, Decision, Item, ItemOf, NewItem } from "../protocol/threads/items.ts";
import type { RunDefinition, RunOptions, RunOrigin, ThreadRecord } from "../protocol/threads/runs.ts";

export type StartInput = {
  /** Agent id. */
  readonly agent: string;
  /** Instead of the agent of that id: a room that was put together. */
  readonly as?: AgentDefinition;
  /** The thread is a room; that the caller is a member of it was checked before. */
  readonly room?: RoomPlace;
  /** An existing thread of the caller's; absent: a new one is made. */
  readonly threadId?: string;
  /** For a new thread: not listed, and removed after 7 days. */
  readonly hidden?: boolean;
  /** With `hidden`: removed once no run works in it. */
  readonly transient?: boolean;
  readonly title?: string;
  /** A name of the caller's own for the thread (`session_id`): the same name finds the same thread, else makes it. */
  readonly sessionKey?: string;
  /** For a new thread only: messages, and calls paired with results, before the message, and what followed it elsewhere. */
  readonly history?: readonly NewItem[];
  readonly done?: readonly NewItem[];
  /** The caller's message. `id`: a UUIDv7 made by the client; the same id sent again answers the first. */
  readonly message: {
    readonly id?: string;
    readonly content: MessageContent;
    readonly files?: readonly AttachedFile[];
  };
  /** A user's message that this one stands in place of: what came after it stays in the log, beside the branch that counts. */
  readonly instead?: string;
  /** A run of the thread: the conversation goes on from its end, beside what came after it. */
  readonly follows?: string;
  /** ID of the message that this is a copy of; only `askAgain` sets it. */
  readonly again?: string;
  /** The run that it stands in place of. */
  readonly origin?: RunOrigin;
  /** The caller's dialect's system text; kept as a `system` message before the caller's. "": what held before does no more. */
  readonly system?: string;
  /** Items right before the message, in a thread that is there too: system messages that are a part of the conversation. */
  readonly before?: readonly NewItem[];
  readonly options?: RunOptions;
  /** Behaviour if the thread has a live run; default: `queue`. */
  readonly mode?: MessageMode;
  /**
   * With `queue`, for callers that can't answer a question: behind a run that waits for a person nothing is queued; that run
   * is given instead, from its open questions on. Behind one that waits for its client's tools the message is refused.
   */
  readonly showQuestions?: boolean;
  readonly idempotency?: Idempotency;
  /** What was asked, for a client that may ask it again without a key. */
  readonly request?: AskedRequest;
  /** The caller holds the connection and has nothing to come back to, unless there is a key. */
  readonly held?: boolean;
  /** Nobody is there to be asked: a clock starts it. */
  readonly unattended?: boolean;
  /** Secrets to sign in elsewhere, by name: stored sealed until the run has ended, in no item and no log. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The header of a request that a run at work sent us: what it starts is a part of that run. */
  readonly within?: string;
};

/** Whose room it is, and what the caller is called in it. */
export type RoomPlace = { readonly ownerId: string; readonly handle: string };

/** The caller's key for one request, and a hash of all that it asks for. */
export type Idempotency = { readonly key: string; readonly bodyHash: string };

/**
 * What a client asked, as a hash. If its answer was lost it may be asked again, and then the run that is there goes on to answer:
 * `client`: the client says that it asks again, or we saw its connection break; `restart`: this process has just begun, so what
 * others had answered may have been lost with them.
 */
export type AskedRequest = { readonly hash: string; readonly mayRepeat?: "client" | "restart" };

export type ToolCallRequest = {
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  /** An existing thread of the caller's; absent: that of the session, else a hidden one is made. */
  readonly threadId?: string;
  /** The thread is found or made by it. */
  readonly sessionKey?: string;
  readonly idempotency?: Idempotency;
};

export type SteerInput = {
  /** A UUIDv7 made by the client; the same id sent again answers the first. */
  readonly id?: string;
  readonly content: MessageContent;
  readonly files?: readonly AttachedFile[];
};
export type SteerResult = { readonly runId: string; readonly messageId: string; readonly seq: number };

/** queue: after it. steer: taken in by it. interrupt: instead of it. reject: refused. */
export const messageModes = ["queue", "steer", "interrupt", "reject"] as const;
export type MessageMode = (typeof messageModes)[number];

export type RunStart = {
  readonly runId: string;
  readonly threadId: string;
  /** Follow the run from here: everything after it belongs to this run or later. */
  readonly cursor: Cursor;
  /** The run waits behind another one of the thread. */
  readonly pending: boolean;
  /** It was started before by the same Idempotency-Key or message id. */
  readonly replayed: boolean;
  /** Where in its thread it was last resumed, if it had ended before. */
  readonly resumedAt?: number;
  /** Ids of calls that had another result before, which counts. */
  readonly differing?: readonly string[];
  /** Of a run that goes on with results: what it began with, and still has. */
  readonly begunWith?: { readonly options: RunOptions; readonly system?: string };
  /** Writes of the run that this one replaces, which it may repeat. */
  readonly wrote?: readonly RunWrite[];
};

/** Who resumes a run stands in the place of who began it. */
export type ResumeInput = {
  readonly onOutage?: OnOutage | undefined;
  readonly held?: boolean | undefined;
};

export type ForkInput = {
  /** The last step that is kept, with its calls and their results. */
  readonly step: string;
  /** Instead of what its agent was told; admins only. */
  readonly instructions?: string | undefined;
  readonly model?: string | undefined;
  /** Replaces the message that started the run. */
  readonly input?: string | undefined;
  readonly idempotency?: Idempotency | undefined;
};

export type EditResult = { readonly messageId: string; readonly thread: ThreadRecord };

/** `resumedAt`: where the run was last resumed; an end of it before that is not told. */
export type FollowTarget = { readonly threadId: string; readonly runId?: string; readonly resumedAt?: number };

export type RunPlace = {
  readonly threadId: string;
  readonly lastSeq: number;
  readonly first: number;
  readonly resumedAt?: number;
  readonly end?: number;
};

export type FollowSink = {
  /** Called in order, at once after subscribing for what is past; must not throw. `cursor` holds after the batch. */
  readonly events: (events: readonly RunEvent[], cursor: () => Cursor) => void;
  /** While much is unsent: resolves when more may come. What is past is told at the reader's pace. */
  readonly drained?: () => Promise<void> | undefined;
  /** The log can't be read any more; nothing follows. */
  readonly error: (error: unknown) => void;
};

export type RunDecision = {
  readonly decision: Decision;
  /** A reason, or what is known. */
  readonly text?: string;
  /** JSON text that an approved call is done with instead. */
  readonly arguments?: string;
  /** Hash of the arguments that the person saw; refused if the question is about others. */
  readonly argumentsHash?: string;
  /** Don't ask again: for this very call, or for all whose arguments fit. */
  readonly always?: true | ArgumentPattern;
  /** Don't ask again in this conversation about telling these `receivers` something. */
  readonly here?: true;
  /** The person has read what came from outside so far, and finds nothing in it that wants something of the model. */
  readonly read?: true;
};

/** A message behind a run that has not ended; at most a hundred wait in a thread. */
export type PendingMessage = {
  /** ID of the run that it will start. */
  readonly id: string;
  readonly agent: string;
  /** Its beginning, if it is not `isWhole`. */
  readonly text: string;
  readonly isWhole: boolean;
  readonly files: readonly Pick<AttachedFile, "id" | "name" | "mediaType">[];
  readonly createdAt: string;
};

/** `item`: the newest message that fits, with the words around the first that was found. */
export type ThreadSearchHit = {
  readonly thread: ThreadRecord;
  readonly item?: { readonly id: string; readonly excerpt: string };
};

/** A thread by the name that its callers gave it (`session_id`), or by its own id. */
export type SessionRecord = {
  readonly id: string;
  readonly threadId: string;
  readonly title: string;
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Number of messages, on all branches. */
  readonly messageCount: number;
};

export type ItemRating = { readonly itemIds: readonly string[]; readonly kind: "positive" | "negative" };

/** Runs: begun, looked at, followed, steered and ended. Each verb throws NotFound for what is not the caller's. */
export type Runs = {
  /** Accepted means committed: item and run in one statement. */
  start(caller: Caller, input: StartInput): Promise<RunStart>;
  /**
   * Asks a user's message of the thread anew, maybe another agent: a copy of it begins a branch beside it. Throws NotFound.
   */
  askAgain(
    caller: Caller,
    input: Omit<StartInput, "message" | "instead" | "again" | "threadId"> & {
      readonly threadId: string;
      readonly message: string;
    },
  ): Promise<RunStart>;
  /**
   * Brings results of client tools by our call ids (all of one run); the waiting run goes on when none is open. Throws
   * Conflict `run_not_live` if a message comes with them that it can't read any more.
   */
  bringResults(caller: Caller, results: readonly BroughtResult[], more?: BroughtWith): Promise<RunStart>;
  get(caller: Caller, runId: string): Promise<RunRecord>;
  /** Newest first. */
  list(
    caller: Caller,
    filter: {
      readonly threadId?: string;
      readonly status?: RunRecord["status"];
      readonly agent?: string;
      /** Only runs that were not started by another run. */
      readonly isRoot?: boolean;
      readonly before?: string;
      readonly limit?: number;
    },
  ): Promise<readonly RunRecord[]>;
  /** Summarises runs that the caller may see. */
  about(runIds: readonly string[]): Promise<ReadonlyMap<string, RunAbout>>;
  /** A run from inside; of anybody for an admin. */
  details(caller: Caller, asked: { readonly runId: string; readonly most?: number }): Promise<RunDetails>;
  /** One item of such a run. */
  item(caller: Caller, runId: string, itemId: string): Promise<Item>;
  /** What a step of such a run asked its model, built again from the log. */
  prompt(caller: Caller, asked: { runId: string; step: string; isWhole?: boolean }): Promise<StepPrompt>;
  /** A run that failed or was cancelled goes on from its last committed step, with all that it had begun. Throws Conflict. */
  resume(caller: Caller, runId: string, input?: ResumeInput): Promise<RunStart>;
  /** A new run beside this one that begins with its steps up to one of them: their calls are not made again. Throws Conflict. */
  fork(caller: Caller, runId: string, input: ForkInput): Promise<RunStart>;
  /** Stops it wherever it is; a run that has ended is left as it is. */
  cancel(caller: Caller, runId: string): Promise<RunRecord>;
  /** As much again of the limit at which the run waits. */
  continue(caller: Caller, runId: string): Promise<RunRecord>;
  /** Gives a message to a run that has not ended. Throws Conflict if it has. */
  steer(caller: Caller, runId: string, message: SteerInput): Promise<SteerResult>;
  /** A run of one tool call and no model. Throws NotFound or InvalidInput before anything is written. */
  callTool(caller: Caller, input: ToolCallRequest): Promise<RunStart>;
  /** Follows a thread or one run from a cursor that is not ahead of the log; `run-end` is the last of a run, the follower stays until closed. */
  follow(target: FollowTarget, from: Cursor, sink: FollowSink): { close(): void };
  /** Tells at the beginning, and whenever runs of this person have begun, wait, go on or have ended; undefined: anybody's. */
  followChanges(userId: string | undefined, tell: () => void): { close(): void };
  /** The seqs of its first item (before it begins: behind all that there is), of its last resume, of its end since. Throws NotFound. */
  placeOf(caller: Caller, runId: string): Promise<RunPlace>;
  /** What it was begun with. Throws NotFound. */
  definitionOf(caller: Caller, runId: string): Promise<RunDefinition>;
};

/** Questions that runs wait for, and what a person answers once and for all. Each verb throws NotFound for what is not the caller's. */
export type Approvals = {
  /** Answers an open question; the run goes on when none is left. Throws Conflict for one that is answered. */
  decide(
    caller: Caller,
    runId: string,
    answer: { readonly questionId: string; readonly input: RunDecision },
  ): Promise<RunRecord>;
  /** Lists the caller's "always" answers, newest first. */
  grants(caller: Caller): Promise<readonly GrantView[]>;
  removeGrant(caller: Caller, grantId: string): Promise<void>;
  /** The open questions of the caller's runs, oldest first. */
  questions(caller: Caller, runId?: string): Promise<readonly ItemOf<"question">[]>;
};

type ThreadParts = KeptConversations & ConversationSettings & PlacedThreadsOf;

/** Threads, their items and branches. Each verb throws NotFound for what is not the caller's. */
export type Threads = ThreadParts & {
  /** The messages that wait for their turn in a thread, the next one first. Throws NotFound as `getThread`. */
  pending(caller: Caller, threadId: string): Promise<readonly PendingMessage[]>;
  /** A room's agents are told nothing of before from here on. Its caller must have been checked. */
  beginChapter(chapter: { readonly threadId: string; readonly by: string }): Promise<Item>;
  createThread(caller: Caller, input: NewThread): Promise<ThreadRecord>;
  getThread(caller: Caller, threadId: string): Promise<ThreadRecord>;
  /** The id of the thread with this session key; the thread's own id will do too. Undefined: there is none. */
  findThread(caller: Caller, sessionKey: string): Promise<string | undefined>;
  /** The session keys that begin so, with their threads; or that of one thread. */
  findSessions(
    caller: Caller,
    sought: { readonly prefix: string; readonly threadId?: string },
  ): Promise<readonly { readonly threadId: string; readonly key: string }[]>;
  /** The last used first. */
  listSessions(
    caller: Caller,
    page: { readonly limit?: number; readonly offset?: number; readonly archived?: boolean },
  ): Promise<readonly SessionRecord[]>;
  /** Throws NotFound. */
  getSession(caller: Caller, id: string): Promise<SessionRecord>;
  /** Throws Conflict `session_exists`. */
  createSession(caller: Caller, input: { readonly id?: string; readonly title?: string }): Promise<SessionRecord>;
  /** Newest first, unless asked otherwise, without rooms; `before` and `after` are ids of threads, exclusive. */
  listThreads(
    caller: Caller,
    page: {
      readonly before?: string;
      readonly after?: string;
      readonly limit?: number;
      readonly order?: "asc" | "desc";
      /** Sorts by last use instead of creation, newest first; only `before` is accepted for paging then. */
      readonly byUse?: boolean;
      /** Only archived ones; absent: none of them. */
      readonly archived?: boolean;
    },
  ): Promise<readonly ThreadRecord[]>;
  /** The thread in whose workspace this one works: itself, or of a delegated run's that of the run at the root. */
  threadOfFiles(caller: Caller, threadId: string): Promise<string>;
  /** Somebody has put files into the thread's workspace: what others wrote may be in them. Throws NotFound as `getThread`. */
  noteFiles(caller: Caller, threadId: string): Promise<void>;
  /** The person has read what came from outside: nothing is asked because of it. Throws Conflict for a room, and while a run works. */
  readOutside(caller: Caller, threadId: string): Promise<void>;
  renameThread(caller: Caller, threadId: string, title: string): Promise<ThreadRecord>;
  /** An archived thread is in no list that does not ask for it. */
  archiveThread(caller: Caller, threadId: string, archived: boolean): Promise<ThreadRecord>;
  /**
   * The conversation goes on at the newest item of the branch that this one is on. Throws NotFound for an item of elsewhere,
   * Conflict `thread_busy` while a run works in the thread.
   */
  chooseBranch(caller: Caller, threadId: string, itemId: string): Promise<ThreadRecord>;
  /**
   * The items of the branch that ends in `leaf`, or of the shown one, oldest first; of a long one its newest `most`. It is
   * whole if the first has no parent.
   */
  listBranch(
    caller: Pick<Caller, "userId">,
    threadId: string,
    page?: { readonly leaf?: string; readonly most?: number },
  ): Promise<readonly Item[]>;
  /**
   * Other words for a message, and nobody is asked: a branch beside it that begins with them and goes on with copies of what
   * came after. Throws NotFound, Conflict as `chooseBranch` does, InvalidInput for no words.
   */
  editMessage(
    caller: Caller,
    edit: {
      readonly threadId: string;
      /** `id`: sent again with the same one, nothing is done twice. */
      readonly message: { readonly id?: string; readonly content: MessageContent };
      /** The message that it stands in place of. */
      readonly instead: string;
    },
  ): Promise<EditResult>;
  /** A new thread that holds a copy of the branch up to an item, or of the shown one. Throws NotFound, and Conflict `too_long`. */
  forkThread(
    caller: Caller,
    threadId: string,
    at?: { readonly itemId?: string; readonly title?: string },
  ): Promise<ThreadRecord>;
  /** Threads whose title holds the text, or one of whose messages holds its words; the newest first. */
  searchThreads(caller: Caller, search: { text: string; limit?: number }): Promise<readonly ThreadSearchHit[]>;
  deleteThread(caller: Caller, threadId: string): Promise<void>;
  /** Of a temporary one: all that was said in it goes. Throws Conflict `thread_not_temporary`. */
  closeThread(caller: Caller, threadId: string): Promise<void>;
  /** Stores the caller's rating of an item; the last one counts. */
  rate(caller: Caller, threadId: string, rating: ItemRating): Promise<void>;
  /**
   * Items by seq; `after` and `before` are exclusive, `order` as asked; or those on both sides of the item `around`. Fewer than
   * `limit` if they are large: at most about 4 MB.
   */
  listItems(
    caller: Caller,
    threadId: string,
    page: {
      readonly after?: number;
      readonly before?: number;
      readonly around?: string;
      readonly limit?: number;
      readonly order?: "asc" | "desc";
    },
  ): Promise<readonly Item[]>;
};
