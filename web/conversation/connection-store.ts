import { useEffect, useState, useSyncExternalStore } from "react";
import { createListeners } from "../browser/listeners.ts";

type ConnectionLoss = { readonly lostAt: number | undefined; readonly backAt: number | undefined };

let connection: ConnectionLoss = { lostAt: undefined, backAt: undefined };
const listeners = createListeners();

/** Told by whoever follows the server. */
export function noteConnection(isConnected: boolean): void {
  const now = Date.now();
  connection = isConnected
    ? { lostAt: undefined, backAt: connection.lostAt === undefined ? undefined : now }
    : { lostAt: connection.lostAt ?? now, backAt: undefined };
  listeners.tell();
}

/** Another conversation has a connection of its own. */
export function resetConnection(): void {
  if (connection.lostAt === undefined && connection.backAt === undefined) return;
  connection = { lostAt: undefined, backAt: undefined };
  listeners.tell();
}

const toldMs = 5000;

/** Since when there is no connection in seconds, and for a while that it is back. */
export function useConnection(): { readonly lostFor: number | undefined; readonly isBack: boolean } {
  const { lostAt, backAt } = useSyncExternalStore(listeners.listen, () => connection);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (lostAt === undefined && backAt === undefined) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    const end = backAt === undefined ? undefined : setTimeout(resetConnection, toldMs);
    return () => {
      clearInterval(timer);
      clearTimeout(end);
    };
  }, [lostAt, backAt]);
  return {
    lostFor: lostAt === undefined ? undefined : Math.max(0, Math.round((now - lostAt) / 1000)),
    isBack: backAt !== undefined,
  };
}
