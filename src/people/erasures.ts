import type { ErasureStep } from "../protocol/people/accounts.ts";
import type { Knowledge } from "../knowledge/knowledge.ts";
import type { Uploads } from "../knowledge/uploads/uploads.ts";
import { type Caller, serverCaller } from "../protocol/base/callers.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Schedules, PersonErasure } from "../run/services.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import type { Database } from "../store/driver/database.ts";
import {
  beginErasure,
  type Erasure,
  eraseAccount,
  getErasure,
  keepErasure,
  leaveErasure,
  listErasures,
  noteStep,
  noteTouched,
  takeErasure,
} from "../store/privacy/erasures.ts";
import { threadsSpokenIn } from "../store/privacy/personal-items.ts";
import { forgetRemovedThread } from "../store/privacy/removed-threads.ts";
import { findUser } from "../store/people/users.ts";

/** How people are erased; whoever asks for it has made sure that the caller may. */
export type Erasures = {
  /** `confirm` is their name. Goes on in the background. Throws NotFound, InvalidInput, Conflict. */
  erase(caller: Caller, userId: string, confirm: string): Promise<Erasure>;
  /** Throws NotFound. */
  get(id: string): Promise<Erasure>;
  list(): Promise<readonly Erasure[]>;
};

export type ErasureDeps = {
  readonly database: Pick<Database, "query" | "transaction">;
  readonly runs: PersonErasure;
  readonly schedules: Pick<Schedules, "list" | "delete">;
  readonly workspaces: Pick<Workspaces, "remove">;
  readonly uploads: Pick<Uploads, "removeById">;
  readonly collections: Pick<Knowledge["collections"], "list" | "remove" | "finishRemovals"> | undefined;
  /** Ends a sign-in to an MCP server, there too if that can be. */
  readonly signOut: (server: string, userId: string) => Promise<unknown>;
  /** Clears cached users and keys. */
  readonly forget: () => void;
  readonly log: Log;
  /** Why this process can't work with files. */
  readonly withFiles: boolean;
};

const lookEveryMs = 20_000;
const keepEveryMs = 20_000;
/** Threads of others that are changed before this is noted anew. */
const together = 50;

type Person = { readonly id: string; readonly userId: string; readonly name: string };

/**
 * Erases people, step by step; each step finds what is left of it, so whoever goes on after a process that died begins at the
 * first. `begin` looks for what others left.
 */
export function createErasures(parts: ErasureDeps): Erasures & { begin(): () => Promise<void> } {
  const { database, runs, schedules, workspaces, uploads, collections, log } = parts;
  const { query } = database;
  let stopped = false;
  let working = Promise.resolve();

  async function eraseElsewhere({ id, userId, name }: Person, touched: readonly string[]): Promise<void> {
    for (const threadId of touched) await runs.rewriteFile(threadId);
    const threads = await threadsSpokenIn(query, userId, name);
    for (let at = 0; at < threads.length; at += together) {
      const some = threads.slice(at, at + together);
      await noteTouched(query, id, some);
      for (const threadId of some) {
        await runs.eraseItems(userId, name, threadId);
        await runs.rewriteFile(threadId);
      }
    }
    await noteTouched(query, id, []);
    const left = await threadsSpokenIn(query, userId, name);
    if (left.length > 0)
      throw new Error(
        `Runs of other people in ${left.length} conversations are still live: messages there are erased when they end.`,
      );
  }

  const callerFor = async (userId: string): Promise<Caller | undefined> => {
    const user = await findUser(query, userId);
    return user && serverCaller(user);
  };

  async function removeCollections({ userId }: Person): Promise<void> {
    const caller = await callerFor(userId);
    if (!collections || !caller) return;
    for (const collection of await collections.list(caller))
      if (collection.userId === userId) await collections.remove(caller, collection.id);
    await collections.finishRemovals();
  }

  const steps: readonly (readonly [ErasureStep, (person: Person, touched: readonly string[]) => Promise<void>])[] = [
    ["runs", ({ userId }) => runs.stopRuns(userId)],
    [
      "schedules",
      async ({ userId }) => {
        const caller = await callerFor(userId);
        if (caller) for (const { id } of await schedules.list(caller)) await schedules.delete(caller, id);
      },
    ],
    [
      "threads",
      async ({ userId }) => {
        // A schedule may have begun one more.
        await runs.stopRuns(userId);
        while (!stopped && (await runs.removeThreads(userId)));
      },
    ],
    [
      "files",
      async ({ userId }) => {
        const sql = "select thread_id as id from removed_threads where user_id = $1";
        for (const { id } of await query<{ id: string }>(sql, [userId])) {
          await workspaces.remove(id);
          await forgetRemovedThread(query, id);
        }
      },
    ],
    [
      "uploads",
      async ({ userId }) => {
        for (const { id } of await query<{ id: string }>("select id from uploads where user_id = $1", [userId]))
          await uploads.removeById(id);
      },
    ],
    ["collections", removeCollections],
    [
      "sign-ins",
      async ({ userId }) => {
        const sql = "select server as id from mcp_credentials where user_id = $1";
        for (const { id } of await query<{ id: string }>(sql, [userId]))
          await parts
            .signOut(id, userId)
            .catch((error: unknown) =>
              log.warn({ server: id, error: messageOf(error) }, "a sign-in could not be ended at its server"),
            );
      },
    ],
    ["items", eraseElsewhere],
    ["account", (person) => eraseAccount(database, person)],
  ];

  async function work(erasureId?: string): Promise<boolean> {
    const taken = await takeErasure(query, erasureId);
    if (!taken) return false;
    const keeping = setInterval(() => void keepErasure(query, taken.id).catch(() => {}), keepEveryMs).unref();
    try {
      for (const [step, act] of steps) {
        if (stopped) return false;
        await noteStep(query, taken.id, step);
        await act(taken, taken.touched);
      }
      parts.forget();
      log.info({ erasure: taken.id }, "account erased");
      return true;
    } catch (error) {
      log.warn({ erasure: taken.id, error: messageOf(error) }, "could not erase an account yet; retrying");
      await leaveErasure(query, taken.id, messageOf(error)).catch(() => {});
      return false;
    } finally {
      clearInterval(keeping);
    }
  }

  /** One after the other, so that stopping waits for all. */
  const soon = (erasureId?: string) =>
    (working = working
      .then(async () => {
        if (stopped || !parts.withFiles) return;
        while (await work(erasureId));
      })
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, "erasures could not be looked for")));

  return {
    async erase(caller, userId, confirm) {
      const erasure = await database.transaction((within) =>
        beginErasure(within, { userId, confirm, askedBy: caller.userId }),
      );
      parts.forget();
      void soon(erasure.id);
      return erasure;
    },
    get: (id) => getErasure(query, id),
    list: () => listErasures(query),
    begin() {
      const timer = setInterval(() => void soon(), lookEveryMs).unref();
      void soon();
      return () => {
        stopped = true;
        clearInterval(timer);
        return working;
      };
    },
  };
}
