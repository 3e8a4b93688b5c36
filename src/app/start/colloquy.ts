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

/** A server that listens. */
export type Colloquy = {
  readonly url: string;
  /** Comes in as the owner where there are accounts; for commands on this machine. */
  readonly token: string;
  /** Where the first admin is made; undefined where there is one, and in local mode. */
  readonly setupLink: () => Promise<string | undefined>;
  /** Makes codes for links that let a browser in; undefined: none is needed. */
  readonly codeMaker: OpenAccess["codeMaker"];
  readonly database: Database;
  /** Whether files of other nodes are here too; `apart`: no work with files may be done in this process. */
  readonly fileProof: FileProof;
  readonly choice: ModelChoice;
  /** `unmet`: which agents demand more of it, a sentence each. */
  readonly sandbox: SandboxSource & { readonly unmet: () => Promise<readonly string[]> };
  /** What was wrong with files of agents and tools; the rest works. */
  readonly problems: readonly string[];
  /** Refuses what is new, lets what is at work finish for ten seconds, hands the rest over. */
  readonly stop: () => Promise<void>;
};

export type ColloquyOptions = StoreOptions & {
  /** False: takes no runs, for a command that only looks. */
  readonly runsJobs?: boolean;
  /** Of requests, only those that failed or were slow are logged at level info. */
  readonly quiet?: boolean;
};

type FindingSources = {
  readonly tools: OpenTools;
  readonly prompts: LoadedPrompts;
  readonly definitions: OpenDefinitions;
  readonly rooms: OpenedRooms;
  readonly models: OpenedModels;
};

/** What is wrong with what people wrote, a sentence each. */
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
