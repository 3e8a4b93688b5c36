import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { textOf, type Item } from "../../protocol/threads/items.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isErased, isNested } from "../log/fold.ts";
import { readBranch } from "./branches.ts";

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
  /** Something was committed to the thread. Never waits, never throws. */
  changed(threadId: string): void;
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

type SessionRow = { name: string; userId: string; title: string; updated: Date; leaf: string | null };

export function createMirror({ query, folder, namedFor, log }: MirrorOptions): Mirror {
  const dirty = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  const find = async (threadId: string): Promise<(SessionRow & { readonly file: string }) | undefined> => {
    const [row] = await query<SessionRow>(
      `select coalesce(session_key, id::text) as name, user_id as "userId", title, updated_at as updated, leaf from threads
       where id = $1 and not hidden and parent_run is null`,
      [threadId],
    );
    if (!row) return undefined;
    // A name that looks like an id could be another thread's.
    const isNamed = row.userId === namedFor && isFileName(row.name) && !isId(row.name);
    return { ...row, file: join(folder, `${isNamed ? row.name : threadId}.json`) };
  };

  async function write(threadId: string): Promise<void> {
    const session = await find(threadId);
    if (!session) return;
    const { file, name, title, updated, leaf } = session;
    const items = await readBranch(query, { threadId, leaf, most: maxMessages });
    const text = JSON.stringify(
      { session_id: name, title, updated_at: updated.toISOString(), messages: items.flatMap(sessionMessage) },
      null,
      2,
    );
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A reader never sees half a file.
    const part = `${file}.${process.pid}.part`;
    await writeFile(part, text + "\n", { mode: 0o600 });
    await rename(part, file);
  }

  async function writeAll(): Promise<void> {
    timer = undefined;
    for (const threadId of dirty) {
      dirty.delete(threadId);
      await write(threadId).catch((error: unknown) =>
        log.warn({ threadId, error: messageOf(error) }, "could not write the session's file"),
      );
    }
  }

  const soon = () => {
    timer ??= setTimeout(() => {
      working = working.then(writeAll);
    }, pauseMs).unref();
  };

  const changed = (threadId: string) => {
    dirty.add(threadId);
    soon();
  };
  void changedSince(query, folder).then(
    (threads) => threads.forEach(changed),
    (error: unknown) => log.warn({ error: messageOf(error) }, "could not look for sessions without files"),
  );

  return {
    changed,
    async leaving(threadId) {
      const session = await find(threadId);
      return async () => {
        dirty.delete(threadId);
        await working;
        if (session) await removeFile(session.file);
      };
    },
    async rewrite(threadId) {
      dirty.delete(threadId);
      const written = working.then(async () => {
        const session = await find(threadId);
        if (session) await removeFile(session.file);
        await write(threadId);
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

/** With what a process left of it that died while it wrote. */
async function removeFile(file: string): Promise<void> {
  const begun = `${basename(file)}.`;
  for (const name of await readdir(dirname(file)).catch(() => []))
    if (name.startsWith(begun) && name.endsWith(".part")) await rm(join(dirname(file), name), { force: true });
  await rm(file, { force: true });
}

/** `{role, content, timestamp}` of what was said aloud. */
export function sessionMessage(item: Item): { role: "user" | "assistant"; content: string; timestamp: string }[] {
  if (item.kind !== "message" || isNested(item) || isErased(item) || item.body.role === "system") return [];
  const { role, content } = item.body;
  const text = textOf(content);
  return text === "" ? [] : [{ role, content: text, timestamp: item.createdAt }];
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
