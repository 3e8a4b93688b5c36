import { Conflict } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { ThreadSettings } from "../../protocol/threads/threads.ts";
import type { ConversationSettings } from "../conversation-settings.ts";
import type { Runtime } from "../contract/runtime.ts";
import { checkModel } from "../turn/check-model.ts";
import { noThread } from "./threads.ts";

const isOwn = "id = $1 and user_id = $2 and ($3::uuid is null or key_id = $3)";

/** What is set for a conversation: read and changed here; each run reads it when it starts. */
export function createThreadSettings({
  database: { query },
  models,
}: Pick<Runtime, "database" | "models">): ConversationSettings {
  return {
    async settingsOf(caller, threadId) {
      const [row] = isId(threadId)
        ? await query<{ settings: ThreadSettings | null }>(`select settings from threads where ${isOwn}`, [
            threadId,
            caller.userId,
            caller.only ?? null,
          ])
        : [];
      if (!row) throw noThread(threadId);
      return row.settings ?? {};
    },

    async changeSettings(caller, threadId, settings) {
      if (settings.model !== undefined) checkModel(models, caller, settings.model, "settings.model");
      const isEmpty = Object.keys(settings).length === 0;
      const [row] = isId(threadId)
        ? await query<{ room: boolean }>(
            `with t as (select id, exists (select from rooms where rooms.thread_id = threads.id) as room from threads where ${isOwn}),
             u as (update threads set settings = $4::jsonb from t where threads.id = t.id and not t.room)
             select room from t`,
            [threadId, caller.userId, caller.only ?? null, isEmpty ? null : jsonText(settings)],
          )
        : [];
      if (!row) throw noThread(threadId);
      if (row.room)
        throw new Conflict("A room has no settings of its own: its members' agents say how they work.", {
          code: "thread_is_room",
        });
    },
  };
}
