import { useState } from "react";
import { t } from "@lingui/core/macro";
import { time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { usePath, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
const pageSize = 20;

type EarlierProps = { readonly current: string | null; readonly newest: string | undefined };

/** What was asked before, by oneself or by agents that work for one; each with its trace. */
export function EarlierQuestions({ current, newest }: EarlierProps) {
  const path = usePath();
  const query = useQuery();
  const [before, setBefore] = useState<string>();
  const loaded = useAnswer(["traces", newest, before], (signal) =>
    client.knowledge.traces({ limit: pageSize + 1, ...(before !== undefined && { before }) }, signal),
  );
  const shown = loaded.data?.slice(0, pageSize) ?? [];
  const isMore = (loaded.data?.length ?? 0) > pageSize;
  const addressOf = (id: string) => {
    const there = new URLSearchParams(query);
    there.set("show", "ask");
    there.set("trace", id);
    return `${path}?${there}`;
  };
  return (
    <section aria-label={t`Past queries`} className="grid gap-2">
      <h2>{t`Past queries`}</h2>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && before === undefined && (
        <p className="text-muted">{t`No queries yet. The last 500 are kept, with how their results were found.`}</p>
      )}
      <ul>
        {shown.map(({ id, question, runId, createdAt }) => (
          <li key={id} className="flex flex-wrap gap-x-3 border-b border-hairline py-1">
            <PageLink to={addressOf(id)} isCurrent={id === current}>
              {question.slice(0, 200)}
            </PageLink>
            <span className="text-muted">
              {time(createdAt)}
              {runId !== null && ` · ${t`by an agent`}`}
            </span>
          </li>
        ))}
      </ul>
      {(isMore || before !== undefined) && (
        <div className="flex gap-2">
          <button type="button" className="button" disabled={before === undefined} onClick={() => setBefore(undefined)}>
            {t`Newest`}
          </button>
          <button type="button" className="button" disabled={!isMore} onClick={() => setBefore(shown.at(-1)?.id)}>
            {t`Older`}
          </button>
        </div>
      )}
    </section>
  );
}
