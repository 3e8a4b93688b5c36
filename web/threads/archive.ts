import { t } from "@lingui/core/macro";
import { announce } from "../parts/announce.tsx";
import { reasonOf } from "../page/server.ts";
import { archiveThread } from "./threads-store.ts";

/** Out of the list; for a while it is one click back. */
export async function archiveWithUndo(id: string): Promise<void> {
  await archiveThread(id, true);
  announce(t`Conversation archived.`, () => {
    archiveThread(id, false).catch((error: unknown) => announce(reasonOf(error)));
  });
}
