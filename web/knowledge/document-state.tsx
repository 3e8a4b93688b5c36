import type { DocumentView } from "../../src/protocol/knowledge/documents.ts";
import { State } from "../parts/state.tsx";
import { texts } from "./knowledge-words.ts";

const grades = { queued: "quiet", working: "warn", ready: "ok", failed: "bad" } as const;

/** How a document is, how far, and why not. */
export function DocumentState({
  document: { status, progress, error, revision },
}: {
  readonly document: DocumentView;
}) {
  const { stage, done, total } = progress;
  const named = stage === undefined ? texts.states.working : texts.stages[stage];
  const isCounted = status === "working" && done !== undefined && total !== undefined && total > 0;
  return (
    <div className="min-w-40 max-w-md">
      <State grade={grades[status]}>
        {status !== "working" ? texts.states[status] : isCounted ? texts.chunksDone(named, done, total) : named}
      </State>
      {isCounted && (
        <div className="meter mt-1" aria-hidden>
          <span style={{ width: `${(done / total) * 100}%` }} />
        </div>
      )}
      {error !== null && (
        <div className={`break-words ${status === "failed" ? "text-bad" : "text-muted"}`}>
          {status === "failed" ? error : texts.lastTry(error)}
        </div>
      )}
      {status !== "ready" && revision > 0 && <div className="text-muted">{texts.oldSearched}</div>}
    </div>
  );
}
