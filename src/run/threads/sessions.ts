import { type Caller, hiddenError } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Threads, SessionRecord } from "../runs.ts";
import { isListed } from "../log/rows.ts";
import { violatedConstraint } from "../../store/driver/sql-state.ts";

type Sessions = Pick<Threads, "listSessions" | "getSession" | "createSession">;

/** SQL condition: a message of a session, which calls, results and empty answers are not. */
const isSaid = `kind = 'message' and (step is null or step not like '%/%') and body ->> 'role' in ('user', 'assistant') and body ->> 'content' is distinct from ''`;
const columns = `t.id as "threadId", coalesce(t.session_key, t.id::text) as id, t.title, t.archived_at as "archivedAt",
  t.created_at as "createdAt", t.updated_at as "updatedAt",
  (select count(*)::integer from items i where i.thread_id = t.id and ${isSaid}) as "messageCount"`;
const mine = "t.user_id = $1 and not t.hidden and t.parent_run is null";

/** Threads by the names that their callers gave them. */
export function createSessions(query: Query): Sessions {
  async function find(caller: Pick<Caller, "userId" | "only">, id: string): Promise<SessionRecord | undefined> {
    const [row] = await query<SessionRecord>(
      `select ${columns} from threads t where ${mine} and (t.session_key = $2 or t.id = $3) and ($4::uuid is null or t.key_id = $4) order by (t.session_key = $2) desc nulls last limit 1`,
      [caller.userId, plainText(id), isId(id) ? id : null, caller.only ?? null],
    );
    return row;
  }
  return {
    async getSession(caller, id) {
      const session = await find(caller, id);
      if (!session) throw hiddenError(caller, new NotFound(`Session ${id} not found.`, { code: "session_not_found" }));
      return session;
    },
    listSessions(caller, { limit = 50, offset = 0, archived = false }) {
      return query<SessionRecord>(
        `select ${columns} from (
           select * from threads t where user_id = $1 and ${isListed(archived, "t")} order by used_at desc, id desc limit $2 offset $3
         ) t order by t.used_at desc, t.id desc`,
        [caller.userId, limit, offset],
      );
    },
    async createSession(caller, { id, title = "" }) {
      if (id !== undefined && (id.length === 0 || id.length > 255 || id.includes("\0")))
        throw new InvalidInput("session_id must have 1 to 255 characters, without NUL", { param: "session_id" });
      try {
        const threadId = newId();
        await query("insert into threads (id, user_id, title, session_key, key_id) values ($1, $2, $3, $4, $5)", [
          threadId,
          caller.userId,
          plainText(title),
          id ?? null,
          caller.key ?? null,
        ]);
        return (await find(caller, threadId))!;
      } catch (cause) {
        if (violatedConstraint(cause) !== "threads_session") throw cause;
        throw new Conflict(`There is a session ${id} already.`, { code: "session_exists", cause });
      }
    },
  };
}
