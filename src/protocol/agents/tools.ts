import type { z } from "zod";
import type { Caller } from "../base/callers.ts";
import type { FinishReason, JsonSchema, ModelCall, ModelRequest, Usage } from "./models.ts";
import type { Source } from "../knowledge/sources.ts";

export type Effect = "read" | "write";

/** What a tool gives back. `content` is what the model reads; `data` is for clients and traces. */
export type ToolResult = {
  readonly content: string;
  readonly isError?: boolean;
  readonly data?: unknown;
  /** What it is made of, for clients to show. */
  readonly sources?: readonly Source[];
  /** Holds text that others wrote, who may want something of the model that reads it. */
  readonly untrusted?: true;
  /** Whose text that is: hosts, MCP servers (`mcp:github`), tools. */
  readonly from?: readonly string[];
  /** Of a remote write: nobody knows whether it was done. The ledger finds out, or a person says it. */
  readonly uncertain?: true;
  /** Instead of a result: nothing was done, and the tool is called again with the person's answer. */
  readonly ask?: ToolQuestion;
};

/** What a tool must know from a person before it can do anything. */
export type ToolQuestion = {
  readonly text: string;
  readonly choices?: readonly string[];
  /** Of the form that is to be filled in. */
  readonly schema?: JsonSchema;
  /** Comes back with the answer, and never leaves the server. */
  readonly state?: unknown;
};
export type ToolAnswer = {
  readonly decision: "answer" | "decline";
  readonly text?: string;
  /** The form as it was filled in; it fits the schema. */
  readonly data?: unknown;
  readonly state?: unknown;
};

/** One SQL statement on a transaction of ours; parameters are `$1`, `$2`, … */
export type Query = <Row extends object = object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** What a tool asks a model. `tools` are its own: it makes the calls itself, and tells the results in its next request. */
export type StepRequest = Pick<ModelRequest, "messages" | "tools" | "toolChoice" | "format" | "settings"> & {
  /** By id or `<provider>/<name>`; absent: the agent's. */
  readonly model?: string;
};

export type StepAnswer = {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly finish: FinishReason;
  readonly usage?: Pick<Usage, "inputTokens" | "outputTokens">;
  /** Which model served. */
  readonly model: string;
};

/** One write of a dry run; `id` stands for what it will make, until it has made it. */
export type PlannedWrite = {
  readonly id: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
};

export type ToolContext = {
  readonly caller: Caller;
  readonly threadId: string;
  /** The thread in whose workspace it works: its own, of a delegated run that of the run at the root. */
  readonly rootThreadId: string;
  readonly runId: string;
  /** The call: the key of the step that asked, and the index in its answer. */
  readonly call: { readonly step: string; readonly index: number };
  /** Fires on cancel, lost ownership and time-out; a tool must stop soon after. */
  readonly signal: AbortSignal;
  /** The ledger's key of a write call; the same again when the call is repeated. Never shown to a model. */
  readonly idempotencyKey: string;
  /** An attempt before, under the same key, broke off, and may have been done. */
  readonly isRepeated?: true;
  /** Of a write elsewhere: keeps something with the call, before it acts, for whoever asks what became of it. */
  readonly remember?: (what: object) => Promise<void>;
  /** What an attempt before kept. */
  readonly remembered?: unknown;
  /**
   * Only for `scope: 'local'`: the transaction in which call, effect and result commit together.
   * Nothing else may be awaited in it (on PGlite that would wait for ever).
   */
  readonly query: Query;
  /**
   * A model step of the same run: within its limits, recorded, no part of the conversation. Repeated after a crash, the same
   * order of steps gets the same answers. `signal` stops it before the call's own does.
   */
  step(request: StepRequest, signal?: AbortSignal): Promise<StepAnswer>;
  /** What people answered when this very call asked, oldest first. */
  readonly answers: readonly ToolAnswer[];
  /**
   * Whose text this run may be working by, as `ToolResult.from` says it; empty: nobody's but its person's. What keeps text where
   * other runs read it keeps this with it. Asks the database. Absent: there is no run.
   */
  outside?(): Promise<readonly string[]>;
  /** For requests to this very server: what they start is a part of this run, and waits for no place of its own. */
  ownHeaders(): Readonly<Record<string, string>>;
  /** Shows progress to followers; not stored. */
  progress(text: string): void;
};

/**
 * A tool as the registry holds it.
 * `read` has no lasting effect and may simply be run again; `write` goes through the ledger.
 * `local` writes only to our own tables, in the transaction it is given: exactly once.
 */
export type Tool = {
  readonly name: string;
  readonly description: string;
  /** Parses and normalises arguments. */
  readonly input: z.ZodType;
  /**
   * Its arguments go on to somebody else as they were written: its `input` gets and gives numbers that a double would change
   * as `ExactNumber`. Others get doubles, and a call with a number that is none is refused.
   */
  readonly keepsNumbers?: true;
  /** The same as a JSON Schema, made once. */
  readonly parameters: JsonSchema;
  readonly effect: Effect;
  readonly scope: "remote" | "local" | "sandbox";
  readonly destructive: boolean;
  /** Destroys only what its caller owns and named: needs no approval unless a rule says so. */
  readonly unasked?: true;
  readonly sendsOut: boolean;
  /** Its results hold text that others wrote: pages, documents, mails. They are marked as untrusted. */
  readonly bringsIn?: true;
  /**
   * Of a read: the address that it asks, if the model chose it. One that neither the user nor a source has named may carry out
   * what the model knows, so it is asked about where a `sendsOut` would be.
   */
  readonly reaches?: (input: unknown) => string | undefined;
  /** For a tool that runs code: the hosts that the code can reach. */
  readonly hosts?: readonly string[];
  /** The MCP server that does it. */
  readonly server?: ToolServer;
  /** What it gives anybody could know, such as the time or a page of the web: it is nobody's secret. */
  readonly isPublic?: true;
  /** Why it can't be used on this server, and what to do; it is listed, and offered to nobody. */
  readonly unavailable?: string;
  /** Runs code that nobody has read: its scope is `sandbox`, and how much that holds matters. */
  readonly runsCode?: true;
  readonly permissions: readonly string[];
  /** The system whose rights `permissions` are; absent: this server's. */
  readonly rights?: string;
  /** Honours the idempotency key: may be called again with the same one. */
  readonly idempotent: boolean;
  /** Of a read: absent, it is tried again when its server was not well. */
  readonly retry?: false;
  /** Of a write: within a run the same arguments mean the same thing, which is done once. */
  readonly sameIntent?: true;
  readonly timeoutMs: number;
  /** Where it comes from: `built-in`, a file, an MCP server. */
  readonly source: string;
  /** `*` does not select it: only a narrower glob or its name. */
  readonly mustBeNamed?: boolean;
  /**
   * Of a write: looks, by reads alone, whether it can be done, before it is planned or a person is asked about it. Resolves to
   * why not. `planned`: what a dry run does before it.
   */
  readonly check?: (
    input: unknown,
    context: ToolContext,
    planned: readonly PlannedWrite[],
  ) => Promise<string | undefined>;
  /** Asks the other side whether the call with this key was done; undefined = it can't be told. */
  readonly reconcile?: (input: unknown, context: ToolContext) => Promise<ToolResult | "not-done" | undefined>;
  readonly execute: (input: unknown, context: ToolContext) => Promise<ToolResult>;
};

/** An MCP server, and what is known of where the things go that a tool of it is told. */
export type ToolServer = {
  readonly name: string;
  /** The operator says that it passes nothing on to anybody else. */
  readonly isConfined: boolean;
  /** `openWorldHint`: false is the server's word that the tool works within a closed world. */
  readonly openWorld?: boolean | undefined;
};

/** Tools that come and go while the server runs: those of an MCP server. */
export type ToolSource = {
  readonly name: string;
  /** What the names of all its tools begin with: who names none of these need not wait for it. */
  readonly prefix?: string;
  /** All of its tools are, as `Tool.mustBeNamed`: `*` alone does not look here. */
  readonly mustBeNamed?: boolean;
  /** What is known of them now, without waiting; of a source that signs in as the user, that user's. */
  tools(caller?: Caller): readonly Tool[];
  /** Asks the source for its tools if it never answered; resolves when it did or can't, and never throws. */
  ready(caller: Caller, signal: AbortSignal): Promise<void>;
  /** It has not told its tools yet, and may do so soon: a run that names some of them had better wait. */
  isAwaited?(caller: Caller): boolean;
  /**
   * Until its tools can be called, as long as its patience lasts; undefined: they can. `tell` hears at once what is waited for.
   * Resolves to why they can't and what to do, and never throws.
   */
  wait?(caller: Caller, waiting: WaitOptions): Promise<string | undefined> | undefined;
};

/** How a source is waited for. */
export type WaitOptions = { readonly signal: AbortSignal; readonly tell: (text: string) => void };

/** What callers may do in another system, which alone knows it and may change its mind at any time. */
export type RightsSource = {
  /** As `Tool.rights` names it. */
  readonly name: string;
  /** As far as it is known now, without waiting; none of a caller who does not work there. */
  permissions(caller: Caller): readonly string[];
  /** Asks the system unless it was asked a moment ago; resolves when it answered or can't, and never throws. */
  ready(caller: Caller, signal: AbortSignal): Promise<void>;
};

export type ToolRegistry = {
  get(name: string): Tool | undefined;
  /** The tools that these globs name, that can be used here and that this caller may use, by name. */
  select(globs: readonly string[], caller: Caller): readonly Tool[];
  list(): readonly Tool[];
  /**
   * Before a run selects its tools: waits for sources that have not told theirs yet, a second at most, since a source that is
   * down must not delay anybody more than that.
   */
  prepare(globs: readonly string[], caller: Caller): Promise<void>;
  /** Which of a tool's permissions the caller has not, as far as it is known now. */
  missing(tool: Tool, caller: Caller): readonly string[];
  /** Sources whose tools these globs name by more than `*`, and that have not told them yet, but may soon. */
  awaited(globs: readonly string[], caller: Caller): readonly string[];
  /** Waits for these sources, each as long as its patience lasts. Why some are not there, by their names. */
  wait(sources: readonly string[], caller: Caller, waiting: WaitOptions): Promise<ReadonlyMap<string, string>>;
  /**
   * Before calls of tools that are or were known: waits for the sources that have them, and asks anew for the caller's rights
   * elsewhere that they need, unless that was a moment ago. Why some can't be called now, by their names.
   */
  renew(names: readonly string[], caller: Caller, waiting: WaitOptions): Promise<ReadonlyMap<string, string>>;
};
