import { t } from "@lingui/core/macro";
import type { CandidateView, TraceView } from "../../src/protocol/knowledge/passages.ts";
import { figure } from "../parts/format.ts";
import { State } from "../parts/state.tsx";
import { Note } from "../parts/note.tsx";
import { Table } from "../parts/table.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { candidateLocation, score } from "./scores.ts";
import { retrievalNames } from "./knowledge-names.ts";

const scanNames = {
  bm25: t`word index`,
  terms: t`words compared in SQL`,
  exact: t`all vectors compared`,
  scan: t`all vectors compared in the server`,
};

const stageNames = { rewrite: t`rewriting`, embed: t`embedding`, search: t`searching`, rerank: t`reranking` };

const cutNames = { rank: t`ranked too low`, tokens: t`no room left`, same: t`duplicate text` };

/** How passages were found: from the question to what went into the context. */
export function Trace({ trace }: { readonly trace: TraceView }) {
  const { question, searched, collections, notes, candidates, reranker } = trace;
  return (
    <details open>
      <summary className="min-h-6 font-semibold">{t`How it was found`}</summary>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 pt-3">
        <dl className="facts">
          <dt>{t`Query`}</dt>
          <dd>{question}</dd>
          <dt>{t`Searched for`}</dt>
          <dd>{searched ?? <span className="text-muted">{t`not rewritten`}</span>}</dd>
          <dt>{t`Collections`}</dt>
          <dd>
            {collections.map(({ id, name, retrieval, weight, embeddingModel, indexing }) => (
              <div key={id}>
                <PageLink to={`/knowledge/${id}`}>{name}</PageLink>{" "}
                <span className="text-muted">
                  {[
                    retrievalNames[retrieval],
                    retrieval === "hybrid" && t`weight of meaning ${{ share: score(weight) }}`,
                    embeddingModel !== "none" && embeddingModel,
                    indexing !== undefined && t`indexing ${{ percent: indexing }}%`,
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </div>
            ))}
          </dd>
          <dt>{t`Search by`}</dt>
          <dd>
            {[...trace.lexical, ...trace.vector]
              .map(way)
              .concat(reranker ?? [])
              .join(", ")}
          </dd>
          <dt>{t`Time`}</dt>
          <dd>
            <Times of={trace.milliseconds} />
          </dd>
          <dt>{t`Notes`}</dt>
          <dd>
            {notes.length === 0 ? (
              <span className="text-muted">{t`All succeeded`}</span>
            ) : (
              notes.map((note) => <Note key={note}>{note}</Note>)
            )}
          </dd>
        </dl>
        {candidates.length > 0 && <Candidates of={candidates} isReranked={reranker !== undefined} />}
      </div>
    </details>
  );
}

function way(name: string): string {
  if (name === "bm25" || name === "terms" || name === "exact" || name === "scan") return scanNames[name];
  return t`index ${name}`;
}

function Times({ of }: { readonly of: TraceView["milliseconds"] }) {
  const stages = (Object.keys(stageNames) as (keyof typeof stageNames)[]).filter((stage) => of[stage] !== undefined);
  const most = Math.max(1, ...Object.values(of));
  return (
    <div className="stage-times">
      {stages.map((stage) => (
        <div key={stage} className="contents">
          <span>{stageNames[stage]}</span>
          <div className="meter" aria-hidden>
            <span style={{ width: `${(of[stage]! / most) * 100}%` }} />
          </div>
          <span className="tabular-nums">{figure(of[stage]!)} ms</span>
        </div>
      ))}
    </div>
  );
}

/** All that were looked at, in their final order. */
function Candidates({ of, isReranked }: { readonly of: readonly CandidateView[]; readonly isReranked: boolean }) {
  const head = [t`Passage`, t`Outcome`, t`Words`, t`Meaning`, t`Combined`, ...(isReranked ? [t`Reranker`] : [])];
  return (
    <Table name={t`Candidates`} head={head} numbersFrom={2}>
      {of.map((candidate) => {
        const { collectionId, documentId, documentName, ordinal, charStart, charEnd, lexical, vector } = candidate;
        return (
          <tr key={`${documentId} ${ordinal}`}>
            <th scope="row" className="min-w-40 font-normal">
              <PageLink to={`/knowledge/${collectionId}?document=${documentId}&from=${charStart}&to=${charEnd}`}>
                {documentName}
              </PageLink>{" "}
              <span className="font-normal text-muted">
                {candidateLocation(candidate) || t`Chunk ${{ ordinal: ordinal + 1 }}`}
              </span>
            </th>
            <td>
              {candidate.place === undefined ? (
                <State grade="quiet">{cutNames[candidate.cut ?? "rank"]}</State>
              ) : (
                <State grade="ok">
                  [{candidate.place}] {t`used`}
                </State>
              )}
            </td>
            <td className="number">{lexical ? `${lexical.rank}. (${score(lexical.score)})` : "–"}</td>
            <td className="number">{vector ? `${vector.rank}. (${score(vector.similarity)})` : "–"}</td>
            <td className="number">{score(candidate.score)}</td>
            {isReranked && (
              <td className="number">{candidate.relevance === undefined ? "–" : score(candidate.relevance)}</td>
            )}
          </tr>
        );
      })}
    </Table>
  );
}
