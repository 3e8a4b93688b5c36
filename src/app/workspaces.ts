import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/schema.ts";
import type { Services } from "../http/server/services.ts";
import { InvalidInput, messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Space } from "../sandbox/workspace/space.ts";
import type { SandboxSource } from "../sandbox/sandbox.ts";
import { createWorkspaces, type Workspaces } from "../sandbox/workspace/workspaces.ts";
import type { Database } from "../store/driver/database.ts";
import type { FileProof } from "../store/installation/data-folder.ts";
import { forgetRemovedThread, listRemovedThreads, postponeRemovedThread } from "../store/privacy/removed-threads.ts";
import { createCapabilityStack } from "./start/capability-stack.ts";
import type { OpenedRooms } from "./rooms.ts";
import { sandboxLimitsOf } from "./sandbox.ts";
import type { OpenSpace } from "./space.ts";
import type { Store } from "./store.ts";
import { type OpenUploads, withAttachedFiles } from "./uploads.ts";

const everyMs = 10_000;
const dayMs = 24 * 60 * 60_000;
const againMinutes = 60;
const together = 50;

type WorkspaceCounterDeps = { readonly database: Pick<Database, "query">; readonly log: Log };

export type WorkspaceStoreDeps = {
  readonly fileProof: FileProof;
  readonly sandbox: SandboxSource;
  readonly space: Space;
  /** A folder that the files of this thread begin with instead of the usual one. */
  readonly templateFor?: (threadId: string) => Promise<string | undefined>;
};

export type OpenWorkspaces = {
  /** With the files in them that messages of their threads brought. */
  readonly workspaces: Workspaces;
  /** The same without: what was uploaded is found by itself. */
  readonly withoutUploads: Workspaces;
  readonly services: Pick<Services, "workspaces">;
  readonly close: () => Promise<void>;
};

type WorkspacesDeps = {
  readonly store: Pick<Store, "database" | "fileProof">;
  readonly space: Pick<OpenSpace, "space" | "totals">;
  readonly sandbox: SandboxSource;
  readonly uploads: Pick<OpenUploads, "uploads">;
  readonly rooms: Pick<OpenedRooms, "templateFor">;
  readonly log: Log;
  /** False: this process removes and counts nothing. */
  readonly runsJobs: boolean;
};

/** The files of threads. */
export function openWorkspaces(config: Config, deps: WorkspacesDeps): OpenWorkspaces {
  const { store, space, sandbox, uploads, rooms, log, runsJobs } = deps;
  const { fileProof } = store;
  const withoutUploads = workspacesOf(config, {
    fileProof,
    sandbox,
    space: space.space,
    templateFor: rooms.templateFor,
  });
  const workspaces = withAttachedFiles(withoutUploads, { uploads: uploads.uploads, database: store.database, log });
  const opening = createCapabilityStack(log);
  if (runsJobs && fileProof === "shared") {
    const database = store.database.listing;
    opening.add({ close: beginRemovingFiles(workspaces, { database, log }) });
    opening.add({ close: space.totals.begin(workspaces, { query: database.query, log }) });
  }
  return { workspaces, withoutUploads, services: { workspaces }, close: opening.done() };
}

/** The files of threads, as the configuration wants them. Throws InvalidInput if the folder they begin with is missing. */
export function workspacesOf(
  { data, sandbox }: Config,
  { fileProof, sandbox: source, space, templateFor }: WorkspaceStoreDeps,
): Workspaces {
  const named = sandbox.workspace;
  if (named !== undefined && !statSync(named, { throwIfNoEntry: false })?.isDirectory())
    throw new InvalidInput(`sandbox.workspace: folder ${named} not found.`, { code: "config_invalid" });
  return createWorkspaces({
    folder: join(data, "scratch"),
    template: named ?? resolve("workspace"),
    templateFor,
    diskBytes: sandboxLimitsOf(sandbox).diskBytes,
    space,
    async release(folder) {
      if ((source.known()?.driver ?? "none") !== "none") await (await source.open()).release(folder);
    },
    refusal:
      fileProof === "apart"
        ? "This node's data directory is not that of the others, so it can't work with files of theirs."
        : undefined,
  });
}

/** Removes the files of threads that are gone, also those that a crash left; at the start and daily what is half done. */
export function beginRemovingFiles(
  workspaces: Workspaces,
  { database, log }: WorkspaceCounterDeps,
): () => Promise<void> {
  let cleaned = -Infinity;
  let round = Promise.resolve();
  const go = async () => {
    try {
      if (performance.now() - cleaned > dayMs) {
        await workspaces.removeLeftovers();
        cleaned = performance.now();
      }
      await removeForgotten(workspaces, { database, log });
    } catch (error) {
      log.warn({ error: messageOf(error) }, "could not remove files of deleted threads; retrying");
    }
  };
  const begin = () => (round = round.then(go));
  void begin();
  const timer = setInterval(begin, everyMs).unref();
  return () => {
    clearInterval(timer);
    return round;
  };
}

export async function removeForgotten(workspaces: Workspaces, { database, log }: WorkspaceCounterDeps): Promise<void> {
  const { query } = database;
  for (;;) {
    const removed = await listRemovedThreads(query, together);
    for (const threadId of removed) {
      try {
        await workspaces.remove(threadId);
        await forgetRemovedThread(query, threadId);
      } catch (error) {
        log.warn({ threadId, error: messageOf(error) }, "the files of a removed thread could not be removed");
        await postponeRemovedThread(query, threadId, againMinutes);
      }
    }
    if (removed.length < together) return;
  }
}
