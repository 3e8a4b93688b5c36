import { t } from "@lingui/core/macro";
import { useConnection } from "./connection-store.ts";

/** That the server can't be reached, and for a while that it is there again. */
export function ConnectionState() {
  const { lostFor, isBack } = useConnection();
  return (
    <p role="status" className="text-sm text-muted">
      {lostFor === undefined ? isBack && t`Reconnected.` : <LostConnection seconds={lostFor} />}
    </p>
  );
}

export function LostConnection({ seconds }: { readonly seconds: number }) {
  return (
    <>
      {/* Said once; the seconds are for eyes. */}
      <span className="sr-only">{t`Connection lost. Reconnecting…`}</span>
      <span aria-hidden className="text-warn">
        {t`Connection lost. Reconnecting · ${seconds} s`}
      </span>
    </>
  );
}
