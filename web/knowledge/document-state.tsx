import { t } from "@lingui/core/macro";
import type { DocumentView } from "../../src/protocol/knowledge/documents.ts";
import { State } from "../parts/state.tsx";
import { stateNames } from "./knowledge-names.ts";

const stageNames = { fetching: t`fetching`, reading: t`reading`, embedding: t`embedding`, storing: t`storing` };

const grades = { queued: "quiet", working: "warn", ready: "ok", failed: "bad" } as const;

/** How a document is, how far, and why not. */
export function DocumentState({
  document: { status, progress, error, revision },
}: {
  readonly document: DocumentView;
}) {
  const { stage, done, total } = progress;
  const named = stage === undefined ? t`processing` : stageNames[stage];
  const isCounted = status === "working" && done !== undefined && total !== undefined && total > 0;
  return (
    <div className="min-w-40 max-w-md">
      <State grade={grades[status]}>
        {status !== "working"
          ? stateNames[status]
          : isCounted
            ? t`${{ stage: named }}: ${done} of ${total} chunks`
            : named}
      </State>
      {isCounted && (
        <div className="meter mt-1" aria-hidden>
          <span style={{ width: `${(done / total) * 100}%` }} />
        </div>
      )}
      {error !== null && (
        <div className={`break-words ${status === "failed" ? "text-bad" : "text-muted"}`}>
          {status === "failed" ? error : t`last attempt: ${{ why: error }}`}
        </div>
      )}
      {status !== "ready" && revision > 0 && (
        <div className="text-muted">{t`Until then, the previous version is searched.`}</div>
      )}
    </div>
  );
}
