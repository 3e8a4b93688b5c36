import { X } from "lucide-react";
import { useEffect } from "react";
import { t } from "@lingui/core/macro";
import { Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { PageLink } from "../parts/page-link.tsx";
import {
  type PendingUpload,
  clearDone,
  hasFailed,
  isMoving,
  isReady,
  isUnread,
  cancelUpload,
  retryUpload,
  useUploads,
} from "./uploads-store.ts";
import { DocumentState } from "./document-state.tsx";

const shownAtOnce = 50;

/** What is on its way, what was not sent first; `onChange` when more has become ready. */
export function Additions({ id, onChange }: { readonly id: string; readonly onChange: () => void }) {
  const all = useUploads(id);
  const ready = all.filter(isReady).length;
  const failed = all.filter(hasFailed).length;
  const sent = all.filter(({ state }) => state === "sent").length;
  useEffect(() => {
    if (sent > 0) onChange();
  }, [sent, ready, failed]);
  if (all.length === 0) return null;
  // What is ready, or was not to be read, stands in the table below; here only that it was there already.
  const known = all.filter((each) => isReady(each) && (each.outcome === "unchanged" || each.outcome === "duplicate"));
  const unsent = all.filter((each) => hasFailed(each) && !isUnread(each));
  const order = [...unsent, ...all.filter(isMoving), ...known.toReversed()];
  return (
    <section aria-label={t`Uploads`} className="grid gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <strong role="status">
          {failed > 0
            ? t`${ready} of ${{ all: all.length }} ready, ${failed} failed`
            : t`${ready} of ${{ all: all.length }} ready`}
        </strong>
        <div className="meter grow" aria-hidden>
          <span style={{ width: `${(ready / all.length) * 100}%` }} />
        </div>
        {all.some(isUnread) && (
          <PageLink to={`/knowledge/${id}?state=failed`} look="text-accent underline">
            {t`Show failed`}
          </PageLink>
        )}
        {ready + failed > 0 && (
          <button type="button" className="button" onClick={() => clearDone(id)}>
            {t`Clear list`}
          </button>
        )}
      </div>
      <ul className="additions">
        {order.slice(0, shownAtOnce).map((adding) => (
          <li key={adding.key}>
            <Name adding={adding} />
            <Progress adding={adding} />
          </li>
        ))}
        {order.length > shownAtOnce && (
          <li className="text-muted">{t`and ${{ count: order.length - shownAtOnce }} more`}</li>
        )}
      </ul>
    </section>
  );
}

function Name({ adding: { name, document } }: { readonly adding: PendingUpload }) {
  if (!document) return <span className="min-w-0 break-words">{name}</span>;
  return (
    <PageLink
      to={`/knowledge/${document.collectionId}?document=${document.id}`}
      look="min-w-0 break-words text-accent underline"
    >
      {name}
    </PageLink>
  );
}

function Progress({ adding }: { readonly adding: PendingUpload }) {
  const { name, state, part, problem, outcome, document } = adding;
  if (outcome === "unchanged") return <State grade="quiet">{t`Already up to date`}</State>;
  if (outcome === "duplicate") return <State grade="quiet">{t`duplicate of ${{ name: document!.name }}`}</State>;
  return (
    <div className="flex flex-wrap items-start gap-2">
      {document ? (
        <DocumentState document={document} />
      ) : problem === undefined ? (
        <div className="min-w-40">
          {state === "waiting"
            ? t`waiting to upload`
            : part < 1
              ? t`uploading: ${{ percent: Math.floor(part * 100) }}%`
              : t`uploaded; saving`}
          {state === "sending" && (
            <div className="meter mt-1" aria-hidden>
              <span style={{ width: `${part * 100}%` }} />
            </div>
          )}
        </div>
      ) : null}
      <Problem text={problem} />
      {hasFailed(adding) && !adding.isFinal && (
        <button
          type="button"
          className="button"
          aria-label={`${t`Try again`}: ${name}`}
          onClick={() => retryUpload(adding)}
        >
          {t`Try again`}
        </button>
      )}
      {(state === "waiting" || state === "sending" || state === "stopped") && (
        <button
          type="button"
          className="icon-button"
          aria-label={t`Cancel upload of ${name}`}
          onClick={() => cancelUpload(adding)}
        >
          <X size={16} aria-hidden />
        </button>
      )}
    </div>
  );
}
