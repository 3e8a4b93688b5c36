import { t } from "@lingui/core/macro";
import { useMe } from "../page/me.ts";

/** Says to whoever is not known to be the owner of a server on this machine what to do about it. */
export function OwnerRequired() {
  const me = useMe();
  if (!me?.asksOnly) return null;
  return (
    <p role="status" className="border-b border-hairline px-4 py-2 text-sm">
      {t`This browser can chat only. To manage conversations and settings, run:`} <code>./colloquy open</code>
    </p>
  );
}
