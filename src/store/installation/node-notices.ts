import { messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { NodeNotices } from "../../protocol/base/node-notices.ts";
import type { Database } from "../driver/database.ts";

const channel = "colloquy_nodes";

export type OpenNotices = NodeNotices & { readonly close: () => Promise<void> };

/** Where one process has the database to itself, nobody hears anything. */
export async function openNodeNotices(database: Database, log: Log): Promise<OpenNotices> {
  if (database.kind === "pglite") return { tell: () => {}, hear: () => {}, close: async () => {} };
  const self = newId();
  const listeners: { readonly subject: string; readonly listener: (text: string | undefined) => void }[] = [];
  const telling = new Set<Promise<unknown>>();
  const unlisten = await database.listen(channel, (payload) => {
    // Empty: the connection was lost, and is back.
    const [from, about, ...words] = payload.split(" ");
    if (from === self) return;
    for (const { subject, listener } of listeners)
      if (payload === "") listener(undefined);
      else if (subject === about) listener(words.join(" "));
  });
  return {
    tell(subject, text = "") {
      const told = database
        .query("select pg_notify($1, $2)", [channel, `${self} ${subject} ${text}`])
        .catch((error: unknown) => log.debug({ error: messageOf(error), subject }, "other nodes could not be told"))
        .finally(() => telling.delete(told));
      telling.add(told);
    },
    hear: (subject, listener) => void listeners.push({ subject, listener }),
    async close() {
      // The connection closes with the database; without one this would wait for the next.
      void unlisten().catch(() => {});
      await Promise.all(telling);
    },
  };
}
