import { t } from "@lingui/core/macro";
import { resumeChanges, usePausedReason } from "../stream/changes.ts";

/** That the server tells of no changes, above what would not change by itself. */
export function PausedUpdates() {
  const reason = usePausedReason();
  if (reason === undefined) return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 border-b border-hairline px-4 py-2 text-sm">
      <p className="min-w-0 flex-1 text-warn">{reason}</p>
      <button type="button" className="button" onClick={resumeChanges}>
        {t`Try again`}
      </button>
    </div>
  );
}
