import { useEffect, useState } from "react";
import { taigaWords as words } from "./taiga-words.ts";

/** What takes its time, as where Taiga asks to wait, shows that it goes on. */
export function Seconds({ since }: { readonly since: string | undefined }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = since === undefined ? 0 : Math.floor((now - Date.parse(since)) / 1000);
  return seconds < 2 ? null : <span className="text-muted"> {words.takesLong(seconds)}</span>;
}
