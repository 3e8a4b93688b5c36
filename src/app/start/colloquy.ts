import type { FileProof } from "../../store/installation/data-folder.ts";
import type { Database } from "../../store/driver/database.ts";
import type { ModelChoice } from "../../models/discovery/choose.ts";
import type { SandboxSource } from "../../sandbox/sandbox.ts";
import type { OpenAccess } from "../access.ts";
import type { OpenDefinitions } from "../definitions.ts";
import type { LoadedPrompts } from "../../agents/load-prompts.ts";
import type { OpenedModels } from "../models.ts";
import { type OpenedRooms, problemText, roomProblems } from "../rooms.ts";
import type { StoreOptions } from "../store.ts";
import type { OpenTools } from "../tools.ts";

/** A running server. */
export type Colloquy = {
  readonly url: string;
  /** Where clients of Ollama reach it too, if that was wanted and is so. */
  readonly ollamaUrl: string | undefined;
  /** Token that authenticates as the owner in accounts mode; for commands on this machine. */
  readonly token: string;
  /** Link that creates the first admin; undefined if there is one already, and in local mode. */
  readonly setupLink: () => Promise<string | undefined>;
  /** Creates codes for links that authorize a browser; undefined if none is needed. */
  readonly codeMaker: OpenAccess["codeMaker"];
  readonly database: Database;
  /** Whether this node shares the data directory with the others; if `apart`, this process must not work with files. */
  readonly fileProof: FileProof;
  readonly choice: ModelChoice;
  /** `unmet` lists the agents that require a stronger sandbox, a sentence each. */
  readonly sandbox: SandboxSource & { readonly unmet: () => Promise<readonly string[]> };
  /** Problems in agent and tool files, and with what it was to listen on; all else works. */
  readonly problems: readonly string[];
  /** Stops the server: refuses new work, gives running work ten seconds to finish, and hands over the rest. */
  readonly stop: () => Promise<void>;
};

export type ColloquyOptions = StoreOptions & {
  /** False: takes no runs; for commands that only read. */
  readonly runsJobs?: boolean;
  /** Its name among the nodes of the database; a new one when absent. */
  readonly node?: string;
  /** Logs only failed or slow requests at level info. */
  readonly quiet?: boolean;
};

type FindingSources = {
  readonly tools: OpenTools;
  readonly prompts: LoadedPrompts;
  readonly definitions: OpenDefinitions;
  readonly rooms: OpenedRooms;
  readonly models: OpenedModels;
};

/** Collects the problems in files that people wrote, a sentence each. */
export function problemsOf({
  tools,
  prompts,
  definitions,
  rooms,
  models: { models },
}: FindingSources): readonly string[] {
  return [
    ...[...tools.problems, ...prompts.problems, ...definitions.problems].map(problemText),
    ...definitions.strays(),
    ...roomProblems(rooms, { agents: definitions.agentsWithoutRooms, models }),
    ...tools.strayModels(models.has),
  ];
}
