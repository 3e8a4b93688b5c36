import { t } from "@lingui/core/macro";
import { announce } from "../parts/announce.tsx";
import { reasonOf } from "../page/server.ts";
import { placeThread } from "./thread-queries.ts";

/** Out of the list; for a while it is one click back. */
export async function archiveWithUndo(id: string): Promise<void> {
  await placeThread(id, { archived: true });
  announce(t`Conversation archived.`, () => {
    placeThread(id, { archived: false }).catch((error: unknown) => announce(reasonOf(error)));
  });
}
