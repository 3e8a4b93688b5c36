import { announce } from "../parts/announce.tsx";
import { reasonOf } from "../page/server.ts";
import { archiveThread } from "./threads-store.ts";
import { threadWords } from "./thread-words.ts";

/** Out of the list; for a while it is one click back. */
export async function archiveWithUndo(id: string): Promise<void> {
  await archiveThread(id, true);
  announce(threadWords.isPutAway, () => {
    archiveThread(id, false).catch((error: unknown) => announce(reasonOf(error)));
  });
}
