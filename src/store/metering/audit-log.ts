import { newId } from "../../protocol/base/ids.ts";
import type { Log } from "../../protocol/base/log.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import { isDatabaseFault } from "../driver/sql-state.ts";
import type { AuditView } from "../../protocol/people/overview.ts";
import type { Query } from "../../protocol/agents/tools.ts";

export type AuditEntry = Omit<AuditView, "id" | "at">;
export type AuditRow = AuditEntry & { readonly id: string; readonly at: Date };

export type AuditLog = {
  /** Never waits, never throws. */
  add(entry: AuditEntry): void;
  /** Newest first; `before` is an id, exclusive. */
  list(page: {
    readonly user?: string;
    readonly before?: string;
    readonly limit: number;
  }): Promise<readonly AuditRow[]>;
  close(): Promise<void>;
};

const maxWaiting = 10_000;

/** Rows are written in the background, in order; a database that is away for long costs the oldest. */
export function createAuditLog(query: Query, log: Log): AuditLog {
  const waiting = new Set<AuditRow>();
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    for (const entry of waiting) {
      const { id, at, userId, userName, via, address, method, path, status, requestId } = entry;
      try {
        await query(
          `insert into audit_log (id, at, user_id, user_name, via, address, method, path, status, request_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
          [id, at, userId, plainText(userName), via, address, method, plainText(path), status, requestId],
        );
      } catch (error) {
        if (isDatabaseFault(error)) throw error;
        // One that the database refuses must not keep back all that come after it.
        log.error({ error: messageOf(error), id, method, path }, "a row of the audit log was refused");
      }
      waiting.delete(entry);
    }
  }

  const begin = () => {
    writing ??= write()
      .catch((error: unknown) =>
        log.error({ error: messageOf(error), waiting: waiting.size }, "the audit log could not be written"),
      )
      .finally(() => (writing = undefined));
    return writing;
  };

  return {
    add(entry) {
      for (const oldest of waiting) {
        if (waiting.size < maxWaiting) break;
        waiting.delete(oldest);
      }
      waiting.add({ ...entry, id: newId(), at: new Date() });
      void begin();
    },
    list({ user, before, limit }) {
      return query<AuditRow>(
        `select id, at, user_id as "userId", user_name as "userName", via, address, method, path, status, request_id as "requestId"
         from audit_log where ($1::text is null or user_name = $1 or user_id::text = $1) and ($2::uuid is null or id < $2)
         order by id desc limit $3`,
        [user === undefined ? null : plainText(user), before ?? null, limit],
      );
    },
    async close() {
      await begin();
    },
  };
}
