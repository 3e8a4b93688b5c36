import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { Item } from "../../protocol/threads/items.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isWithdrawal } from "../log/standing.ts";
import { readBranch } from "./branches.ts";
import {
  extendSessionFile,
  sessionMessage,
  type SessionMessage,
  writeSessionFile,
  type WrittenFile,
} from "./session-file.ts";

export type MirrorOptions = {
  readonly query: Query;
  /** For `<session>.json`; made when needed. */
  readonly folder: string;
  /** The account whose files are named as its sessions are. Those of others have their thread's id: two may use one name. */
  readonly namedFor?: string | undefined;
  readonly log: Log;
};

/** Writes each session to a file for people to read. What it holds is a copy: nothing is ever read back. */
export type Mirror = {
  /** Something was committed to the thread: these items, or else anything. Never waits, never throws. */
  changed(threadId: string, items?: readonly Item[]): void;
  /** Before a thread is deleted: how to remove its file once it is gone. */
  leaving(threadId: string): Promise<() => Promise<void>>;
  /** At once: something was taken out of it. */
  rewrite(threadId: string): Promise<void>;
  close(): Promise<void>;
};

/** Several messages within this time are one write. */
const pauseMs = 500;
const maxMessages = 5000;
const graceSeconds = 3600;
/** Threads whose files can be extended; of others the next message writes the file whole. */
const maxKnown = 10_000;
/** Items of a thread that are kept until they are written; of more, the thread is read. */
const maxCommitted = 1000;
const threadsAtOnce = 500;

type SessionRow = { id: string; name: string; userId: string; title: string; updated: Date; leaf: string | null };
type Session = SessionRow & { readonly path: string };

/** What a file needs of an item. */
type FileItem = Pick<Item, "seq" | "id" | "parentId" | "createdAt"> & {
  readonly said: readonly SessionMessage[];
  readonly takesBack: boolean;
};

/** Up to where a thread stands in its file. Without one: it is none that has a file. */
type MirroredThread =
  | { readonly seq: number; readonly leaf: string; readonly file: WrittenFile }
  | { readonly file?: undefined };

export function createMirror({ query, folder, namedFor, log }: MirrorOptions): Mirror {
  /** What was committed to threads since they were written; undefined: not known. */
  const dirty = new Map<string, FileItem[] | undefined>();
  const files = openFiles({ query, folder, namedFor });
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    timer = undefined;
    const taken = [...dirty];
    dirty.clear();
    const whole: typeof taken = [];
    for (const [threadId, items] of taken) {
      const isDone = items !== undefined && (await attempt(threadId, () => files.extend(threadId, items)));
      if (!isDone) whole.push([threadId, items]);
    }
    for (let first = 0; first < whole.length; first += threadsAtOnce) {
      const some = whole.slice(first, first + threadsAtOnce);
      const sessions = await attempt(undefined, () => files.find(some.map(([threadId]) => threadId)));
      for (const [threadId, items] of sessions ? some : []) {
        const session = sessions!.get(threadId);
        if (session) await attempt(threadId, () => files.write(session, items));
        else files.remember(threadId, {});
      }
    }
  }

  async function attempt<Value>(threadId: string | undefined, work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      log.warn({ threadId, error: messageOf(error) }, "could not write the session's file");
      return undefined;
    }
  }

  const note = (threadId: string, items: readonly Item[] | undefined) => {
    const waiting = dirty.has(threadId) ? dirty.get(threadId) : [];
    if (items && waiting && waiting.length < maxCommitted) {
      waiting.push(...items.map(fileItem));
      dirty.set(threadId, waiting);
    } else dirty.set(threadId, undefined);
  };
  const changed: Mirror["changed"] = (threadId, items) => {
    if (files.hasNone(threadId)) return;
    note(threadId, items);
    if (items?.some(isShown) === false) return;
    timer ??= setTimeout(() => {
      working = working.then(writeAll);
    }, pauseMs).unref();
  };
  void changedSince(query, folder).then(
    (threads) => threads.forEach((threadId) => changed(threadId)),
    (error: unknown) => log.warn({ error: messageOf(error) }, "could not look for sessions without files"),
  );

  const findOne = async (threadId: string) => (await files.find([threadId])).get(threadId);
  return {
    changed,
    async leaving(threadId) {
      const session = await findOne(threadId);
      return async () => {
        dirty.delete(threadId);
        await working;
        files.forget(threadId);
        if (session) await removeFile(session.path);
      };
    },
    async rewrite(threadId) {
      dirty.delete(threadId);
      const written = working.then(async () => {
        const session = await findOne(threadId);
        if (session) await removeFile(session.path);
        if (session) await files.write(session);
      });
      working = written.catch(() => {});
      await written;
    },
    async close() {
      clearTimeout(timer);
      await working;
      await writeAll();
    },
  };
}

/** The files of sessions, and up to where each thread stands in its own. */
function openFiles({ query, folder, namedFor }: Omit<MirrorOptions, "log">) {
  const known = new Map<string, MirroredThread>();

  async function find(threads: readonly string[]): Promise<ReadonlyMap<string, Session>> {
    const rows = await query<SessionRow>(
      `select id, coalesce(session_key, id::text) as name, user_id as "userId", title, updated_at as updated, leaf from threads
       where id = any ($1::uuid[]) and not hidden and parent_run is null`,
      [threads],
    );
    return new Map(rows.map((row) => [row.id, { ...row, path: pathOf(row) }]));
  }

  function pathOf({ id, userId, name }: SessionRow): string {
    // A name that looks like an id could be another thread's.
    const isNamed = userId === namedFor && isFileName(name) && !isId(name);
    return join(folder, `${isNamed ? name : id}.json`);
  }

  /** Writes what came last behind the rest; false: it must be written whole. */
  async function extend(threadId: string, items: readonly FileItem[]): Promise<boolean> {
    const mirrored = known.get(threadId);
    if (!mirrored?.file) return false;
    const fresh = items.filter(({ seq }) => seq > mirrored.seq);
    const last = fresh.at(-1);
    if (!last) return true;
    if (!follows(fresh, mirrored) || mirrored.file.messages > 2 * maxMessages) return false;
    known.delete(threadId);
    const file = await extendSessionFile(
      mirrored.file,
      new Date(last.createdAt),
      fresh.flatMap(({ said }) => said),
    );
    if (file) remember(threadId, { seq: last.seq, leaf: last.id, file });
    return file !== undefined;
  }

  async function write(session: Session, items: readonly FileItem[] = []): Promise<void> {
    const { id: threadId, leaf, path } = session;
    known.delete(threadId);
    const isWhole = follows(items, { seq: 0, leaf: null });
    const branch = isWhole ? items : (await readBranch(query, { threadId, leaf, most: maxMessages })).map(fileItem);
    const last = branch.at(-1);
    if (!last) return;
    const file = await writeSessionFile(
      path,
      session,
      branch.flatMap(({ said }) => said),
    );
    remember(threadId, { seq: last.seq, leaf: last.id, file });
  }

  function remember(threadId: string, thread: MirroredThread): void {
    known.delete(threadId);
    known.set(threadId, thread);
    if (known.size > maxKnown) known.delete(known.keys().next().value!);
  }

  return {
    find,
    extend,
    write,
    remember,
    forget: (threadId: string) => known.delete(threadId),
    /** Whether the thread is known to be none that has a file. */
    hasNone(threadId: string) {
      const mirrored = known.get(threadId);
      return mirrored !== undefined && !mirrored.file;
    },
  };
}

function fileItem(item: Item): FileItem {
  const { seq, id, parentId, createdAt } = item;
  return { seq, id, parentId, createdAt, said: sessionMessage(item), takesBack: isWithdrawal(item) };
}

/** Whether a file may have to say something else because of it. */
function isShown({ kind, body }: Item): boolean {
  return kind === "message" || ("type" in body && body.type === "branch");
}

/** Whether the items come one after another behind this one, and take nothing back. */
function follows(
  items: readonly FileItem[],
  { seq, leaf }: { readonly seq: number; readonly leaf: string | null },
): boolean {
  return (
    items.length > 0 &&
    items.every(
      (item, at) =>
        item.seq === seq + 1 + at && item.parentId === (at === 0 ? leaf : items[at - 1]!.id) && !item.takesBack,
    )
  );
}

/** With what a process left of it that died while it wrote. */
async function removeFile(file: string): Promise<void> {
  const begun = `${basename(file)}.`;
  for (const name of await readdir(dirname(file)).catch(() => []))
    if (name.startsWith(begun) && name.endsWith(".part")) await rm(join(dirname(file), name), { force: true });
  await rm(file, { force: true });
}

/** Finds sessions committed after the newest file was written, by a process that died before it could write theirs. */
async function changedSince(query: Query, folder: string): Promise<readonly string[]> {
  let newest = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const written = (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0;
    if (name.endsWith(".json")) newest = Math.max(newest, written);
    else if (name.endsWith(".part") && written < Date.now() - graceSeconds * 1000)
      await rm(join(folder, name), { force: true });
  }
  const rows = await query<{ id: string }>(
    `select id from threads where updated_at > to_timestamp($1) and leaf is not null and not hidden and parent_run is null
     order by updated_at desc limit 1000`,
    // One that was committed before that and not yet written is written once more than it need be.
    [Math.floor(newest / 1000) - graceSeconds],
  );
  return rows.map(({ id }) => id);
}

function isFileName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !name.endsWith(".");
}
