import { useEffect, useState } from "react";
import { serverNow } from "../browser/server-time.ts";
import { duration } from "../parts/format.ts";

/** Below this nothing is said of waiting. */
const quietMs = 150;

/** For how long something has been going on, for the eye alone. */
export function ElapsedTime({ since }: { readonly since: string }) {
  const [now, setNow] = useState(() => serverNow());
  useEffect(() => {
    const begin = setTimeout(() => setNow(serverNow()), quietMs);
    const timer = setInterval(() => document.visibilityState === "visible" && setNow(serverNow()), 1000);
    return () => {
      clearTimeout(begin);
      clearInterval(timer);
    };
  }, []);
  const ms = now - Date.parse(since);
  return ms < quietMs ? null : (
    <span aria-hidden className="tabular-nums">
      {" "}
      · {duration(Math.max(0, Math.floor(ms / 1000) * 1000))}
    </span>
  );
}
