import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { createUploads, type Uploads } from "../knowledge/uploads/uploads.ts";
import type { Services } from "../http/server/services.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Workspace } from "../sandbox/workspace/workspace.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import type { Database } from "../store/driver/database.ts";
import { type AttachedUpload, listAttached } from "../store/knowledge/uploads.ts";
import type { OpenSpace } from "./space.ts";
import type { Store } from "./store.ts";

const megabyte = 1024 * 1024;
const hourMs = 60 * 60_000;
/** In a workspace: the ids of the uploads that were copied into it, so that what was deleted there stays deleted. */
const noted = ".colloquy/uploads";

export type OpenUploads = {
  readonly uploads: Uploads;
  readonly services: Pick<Services, "uploads">;
  readonly close: () => Promise<void>;
};

type UploadsDeps = {
  readonly store: Pick<Store, "database" | "fileProof">;
  readonly space: Pick<OpenSpace, "checkDisk">;
  readonly log: Log;
  /** False: this process removes none. */
  readonly runsJobs: boolean;
};

/** The files that people hand over. */
export function openUploads(config: Config, { store, space, log, runsJobs }: UploadsDeps): OpenUploads {
  const { fileMb, userMb, userFiles } = config.uploads;
  const uploads = createUploads({
    database: store.database,
    folder: join(config.data, "uploads"),
    fileBytes: fileMb * megabyte,
    limits: { files: userFiles, bytes: userMb * megabyte },
    checkDisk: space.checkDisk,
    log,
    refusal:
      store.fileProof === "apart"
        ? "This node's data directory is not that of the others, so it can't work with files of theirs."
        : undefined,
  });
  const close = runsJobs && store.fileProof === "shared" ? beginRemovingUploads(uploads, log) : async () => {};
  return { uploads, services: { uploads }, close };
}

/** Uploads that were never finished go, at the start and each hour. */
function beginRemovingUploads(uploads: Uploads, log: Log): () => Promise<void> {
  let round = Promise.resolve();
  const go = () =>
    (round = round
      .then(() => uploads.removeAbandoned())
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, "abandoned uploads were not removed")));
  void go();
  const timer = setInterval(go, hourMs).unref();
  return () => {
    clearInterval(timer);
    return round;
  };
}

type Sources = {
  readonly uploads: Pick<Uploads, "placeOf">;
  readonly database: Pick<Database, "query">;
  readonly log: Log;
};

/** Whoever opens or looks into a workspace finds the files in it that messages of its thread brought. */
export function withAttachedFiles(workspaces: Workspaces, { uploads, database: { query }, log }: Sources): Workspaces {
  /** By thread: of two at once the second must not write over what code has changed since the first. */
  const copying = new Map<string, Promise<void>>();

  async function copyInto(workspace: Workspace, threadId: string): Promise<void> {
    const attached = await listAttached(query, threadId);
    if (attached.length === 0) return;
    const note = await workspace.read(noted, { maxBytes: megabyte }).catch(() => undefined);
    const known = new Set(note?.content.toString().split("\n"));
    const fresh = attached.filter(({ id }) => !known.has(id));
    if (fresh.length === 0) return;
    for (const file of fresh) {
      await copy(workspace, file);
      known.add(file.id);
    }
    await workspace.write(noted, [...known].filter(Boolean).join("\n"));
  }

  /** One that can't be copied (too large, deleted meanwhile) must not keep tools from all the others. */
  async function copy(workspace: Workspace, { id, file, path }: AttachedUpload): Promise<void> {
    const place = uploads.placeOf({ file });
    try {
      await stat(place);
      await workspace.write(path, readLazily(place));
    } catch (error) {
      log.warn({ upload: id, error: messageOf(error) }, "a file of a message could not be put into its workspace");
    }
  }

  /** One after the other; what fails there keeps nobody from what is there already. */
  async function bring(workspace: Workspace, threadId: string): Promise<Workspace> {
    const before = copying.get(threadId) ?? Promise.resolve();
    const mine = before
      .then(() => copyInto(workspace, threadId))
      .catch((error: unknown) => log.warn({ threadId, error: messageOf(error) }, "files of messages were not copied"));
    copying.set(threadId, mine);
    await mine;
    if (copying.get(threadId) === mine) copying.delete(threadId);
    return workspace;
  }

  return {
    ...workspaces,
    open: async (threadId) => bring(await workspaces.open(threadId), threadId),
    async find(threadId) {
      const found = await workspaces.find(threadId);
      if (found) return bring(found, threadId);
      const hasFiles = (await listAttached(query, threadId)).length > 0;
      return hasFiles ? bring(await workspaces.open(threadId), threadId) : undefined;
    },
  };
}

/** A stream that is open before anybody reads it may fail where nobody hears it, which ends the process. */
async function* readLazily(place: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(place) as AsyncIterable<Uint8Array>;
}
