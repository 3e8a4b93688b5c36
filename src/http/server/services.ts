import type { ReadinessProblem } from "../../protocol/base/readiness.ts";
import type { UsageView, Finding, SettingView } from "../../protocol/people/overview.ts";
import type { AgentRegistry } from "../../protocol/agents/agents.ts";
import type { Caller, Rights } from "../../protocol/base/callers.ts";
import type { McpServerState } from "../../protocol/agents/mcp-servers.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { ModelCallRecord, ModelRegistry } from "../../protocol/agents/models.ts";
import type { ToolRegistry } from "../../protocol/agents/tools.ts";
import type { Presence } from "../../rooms/presence.ts";
import type { Rooms } from "../../rooms/rooms.ts";
import type { AdminRuns, Schedules } from "../../run/services.ts";
import type { Approvals, Runs, Threads } from "../../run/runs.ts";
import type { Erasures } from "../../people/erasures.ts";
import type { Retention } from "../../people/retention.ts";
import type { Persons } from "../../people/archive.ts";
import type { Accounts } from "../../people/accounts.ts";
import type { LocalLogins } from "../../people/local-logins.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import type { Definitions } from "../../definitions/definitions.ts";
import type { Trials } from "../../definitions/trials.ts";
import type { FileLinks } from "../files/file-links.ts";
import type { PageFiles } from "../files/page-files.ts";
import type { TaskCalls } from "../../tools/basic/task-calls.ts";
import type { KeyAndUser } from "../../store/people/api-keys.ts";
import type { Revocation } from "../../tools/mcp/sign-in/revoke.ts";
import type { OAuthCallback } from "../../tools/mcp/sign-in/sign-ins.ts";
import type { ModelRelay } from "../../tools/core/model-relay.ts";
import type { TaigaAccess } from "../../tools/taiga/access.ts";
import type { TaigaSessions } from "../../tools/taiga/project-choices.ts";
import type { EmbeddingModels } from "../../knowledge/embedding/embedding-models.ts";
import type { Knowledge } from "../../knowledge/knowledge.ts";
import type { PassageSearch } from "../../knowledge/search/retrieve.ts";
import type { Uploads } from "../../knowledge/uploads/uploads.ts";
import type { AuditLog } from "../../store/metering/audit-log.ts";
import type { ModelHealth, UsageFilter } from "../../store/metering/usage.ts";
import type { RequestReservations } from "../../run/limits/reserve-spending.ts";
import type { Budget, BudgetState, NewBudget } from "../../store/metering/spending.ts";
import type { SharedCounts } from "../../store/metering/shared-counts.ts";
import type { Folders } from "../../store/folders.ts";
import type { ListChanges } from "../../store/people/list-changes.ts";
import type { PreferencesOf } from "../../store/people/preferences.ts";
import type { Shares } from "../../store/shares.ts";
import type { TaskList } from "../../store/tasks/task-list.ts";
import type { UserAdmin } from "../../store/people/user-admin.ts";

/** Who may come in. `local`: whoever is on this machine may ask. `accounts`: only who has logged in or holds an API key. */
export type Access =
  | {
      readonly mode: "local";
      readonly owner: Caller;
      /** How the owner is told from whoever else asks on this machine; `open`: everybody is the owner. */
      readonly owning: "open" | LocalOwner;
    }
  | {
      readonly mode: "accounts";
      readonly findByKey: FindByKey;
      /** Passwords, logins and links; absent where only keys count. */
      readonly accounts?: Accounts;
      /** A command on this machine that can read the data directory's token comes in as the owner. */
      readonly local?: { readonly token: string; readonly owner: Caller };
    };

export type FindByKey = (
  key: string,
) => Promise<{ readonly user: SignedInAccount; readonly key?: KeyAndUser["key"] } | undefined>;

export type LocalOwner = {
  /** `auto`: the kernel is asked whose the client is. `token`: only a key counts. */
  readonly rule: "auto" | "token";
  /** The guests' account as it is now, cut to what everybody on this machine may. Throws AccessDenied if nobody may ask. */
  readonly asker: () => Promise<Caller>;
  /** Token of anyone who can read the data directory. */
  readonly token: string;
  readonly findByKey: FindByKey;
  /** Browsers that a link has let in. */
  readonly logins: LocalLogins;
};

export type SignedInAccount = Rights & { readonly id: string; readonly name: string; readonly disabled: boolean };

export type ServerSettings = {
  /** Where browsers reach this server: an origin; absent: what each request says. */
  readonly publicUrl?: string | undefined;
  /** Of the costs that the page shows; USD when absent. */
  readonly currency?: string;
  /** One more port that is listened on, for clients of Ollama. */
  readonly ollamaPort?: number | undefined;
  /** Prefix of all paths there, such as `/colloquy`. */
  readonly basePath?: string;
  /** Addresses or networks of proxies whose word on who asks is taken; none when absent. */
  readonly trustProxy?: readonly string[];
  /** Limit per user, per key, or per address without a login; absent or 0: no limit. */
  readonly requestsPerMinute?: number;
  /** With the other nodes; absent: each process counts by itself. */
  readonly sharedCounts?: SharedCounts | undefined;
  /** Origins of pages that may call this server, besides its own. */
  readonly corsOrigins: readonly string[];
  /** Where those may ask: everywhere when absent, or `asking`, where nothing is looked up or changed. */
  readonly corsPaths?: "all" | "asking";
  /** Values of the Host header, `name` or `name:port`, that local mode takes besides loopback ones. */
  readonly hosts?: readonly string[];
  /** Bytes of a request body; 10 MB when absent. */
  readonly bodyLimit?: number;
  /** How long headers may take to arrive, and then a body; 30 s when absent. */
  readonly bodyMs?: number;
  /** How long runs and answers that are under way may take at stop; 10 s when absent. */
  readonly graceMs?: number;
  /** How often the login of whoever reads an event stream is asked for again; 30 s when absent. */
  readonly recheckMs?: number;
  /** For a person who watches: requests that went well and fast are logged at level debug instead of info. */
  readonly quiet?: boolean;
  /** Event streams that one user may hold open on this node, 0: any number; 1000 when absent. */
  readonly streamsPerUser?: number;
};

/** Opens the MCP servers and their sign-in. */
export type McpSignIns = {
  /** As far as they are the same for all. */
  states(): readonly McpServerState[];
  statesFor(caller: Caller, signal: AbortSignal): Promise<readonly McpServerState[]>;
  /** The address where the user signs in. */
  begin(server: string, userId: string): Promise<string>;
  /** Begins a sign-in for the person the link was given to. */
  beginByLink(ticket: string): Promise<string>;
  /** Signs in the user who began it; the server's name. */
  finish(returned: OAuthCallback): Promise<string>;
  forget(server: string, userId: string): Promise<Revocation>;
  /** Where browsers reach this server: an origin. */
  base(): string;
};

/** A place where a model server was looked for. `detail`: what came of it, in words for a person. */
export type ModelProbe = {
  readonly kind: string;
  readonly url: string;
  readonly outcome: string;
  readonly detail: string;
};

/** Overviews for administrators, besides the runs. */
export type Overview = {
  usage(question: UsageFilter): Promise<readonly UsageView[]>;
  modelHealth(): Promise<readonly ModelHealth[]>;
  /** Secrets masked. */
  settings(): readonly SettingView[];
  readonly audit: AuditLog;
};

/** Budgets of accounts and groups for models. Callers must have checked that the user may change them. */
export type Spending = {
  readonly holds: Pick<RequestReservations, "begin" | "hold">;
  list(): Promise<readonly (Budget | BudgetState)[]>;
  budgetsOf(userId: string): Promise<readonly BudgetState[]>;
  /** Throws NotFound. */
  save(budget: NewBudget): Promise<Budget>;
  /** Throws NotFound. */
  remove(id: string): Promise<void>;
};

/** Details of `GET /health?verbose` besides the status. */
export type HealthDetails = Readonly<Record<string, unknown>>;

/**
 * In the older protocol a call is taken back by a request of its own, which names the call by its id; ids are the client's, so a
 * call is looked for where the client's session says: in this process, else in those of the other nodes.
 */
export type Cancellations = {
  /** Returns how to forget it. */
  note(place: string, id: string | number, cancel: () => void): () => void;
  cancel(place: string, id: string | number): void;
};

/** Conversations, the runs that work in them, and rooms. */
type ConversationServices = {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly approvals: Approvals;
  readonly adminRuns: AdminRuns;
  readonly schedules: Schedules;
  readonly rooms: Rooms;
  readonly presence: Presence;
  readonly shares: Shares;
  /** Calls of MCP clients that can be taken back, on all nodes; absent: each server looks for its own in this process. */
  readonly cancels?: Cancellations;
  /** The names of the webhooks that a run may ask for. */
  readonly hooks?: readonly string[];
  /** The task tools as their own MCP server calls them. */
  readonly tasks: TaskCalls;
  readonly taskList: TaskList;
  readonly folders: Folders;
  readonly listChanges: ListChanges;
  readonly preferences: PreferencesOf;
};

/** Agents, models and tools, and what admins define of them. */
type AgentServices = {
  readonly agents: AgentRegistry;
  readonly models: ModelRegistry;
  readonly tools: ToolRegistry;
  readonly mcp?: McpSignIns;
  /** Where tools that work on another server ask models; absent: there is no such server. */
  readonly relay?: Pick<ModelRelay, "admit" | "answer"> | undefined;
  /** Absent: this server works with no Taiga. */
  readonly taiga?: TaigaAccess | undefined;
  /** Where people sign in to it and choose what to work on; there with it. */
  readonly taigaSessions?: TaigaSessions | undefined;
  /** Definitions that admins make through the API, in addition to files. */
  readonly definitions: Definitions;
  readonly trials: Trials;
  readonly callLog: { add(record: ModelCallRecord): void };
  /** Where models were looked for when the server began. */
  readonly probes?: () => readonly ModelProbe[];
};

/** Files, documents and what is found in them. */
type FileServices = {
  readonly uploads: Uploads;
  readonly workspaces: Pick<Workspaces, "open" | "find" | "remove">;
  readonly fileLinks: FileLinks;
  readonly knowledge: Knowledge;
  readonly embeddingModels: EmbeddingModels;
  readonly retrieval: PassageSearch;
  /** Folders of this machine whose files may become documents. */
  readonly ragFolders?: readonly string[];
};

/** Who may come in, and what is known of people. */
type PeopleServices = {
  readonly access: Access;
  readonly users: UserAdmin;
  readonly spending?: Spending;
  readonly retention?: Retention;
  readonly persons?: Persons;
  readonly erasures?: Erasures;
  readonly overview: Overview;
};

/** The server itself. */
type ServerServices = {
  /** The page for people; absent where it was not built. */
  readonly page?: PageFiles | undefined;
  readonly health: () => Promise<HealthDetails>;
  /** Why this node can't work now; undefined: it can. */
  readonly unready: () => ReadinessProblem | undefined;
  /** At stop: takes no more runs, and is over when those at work have come to their end or were handed over, and nobody is answered. */
  readonly drain: (graceMs: number, isAnswering: () => boolean) => Promise<void>;
  /** Runs the checks of `colloquy doctor` for the database and its surroundings. */
  readonly examine: (options?: { readonly all?: boolean }) => Promise<readonly Finding[]>;
  readonly server: ServerSettings;
  readonly log: Log;
  readonly version: string;
};

/** Everything the routes need, handed in by the composition root. A handler takes the parts that it uses. */
export type Services = ConversationServices & AgentServices & FileServices & PeopleServices & ServerServices;
