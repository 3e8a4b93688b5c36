import { useEffect } from "react";
import { bringIntoView } from "../parts/kept-place.ts";
import { NewerOfLog, OlderOfLog } from "../parts/more-of-log.tsx";
import { showNewer, showOlder, useConversation } from "./conversation-store.ts";

/** What stands before the turns on the page; and what was asked for is brought into view. */
export function OlderTurns() {
  const { hasOlder, isReading, found } = useConversation();
  useEffect(
    () => (found === undefined ? undefined : bringIntoView(`[data-message-id="${CSS.escape(found)}"]`)),
    [found],
  );
  return <OlderOfLog hasMore={hasOlder} isReading={isReading} onMore={showOlder} />;
}

export function NewerTurns() {
  const { hasNewer, isReading } = useConversation();
  return <NewerOfLog hasMore={hasNewer} isReading={isReading} onMore={showNewer} />;
}
