import type { CandidateView, TraceView } from "../../src/protocol/knowledge/passages.ts";
import { figure } from "../parts/format.ts";
import { State } from "../parts/state.tsx";
import { Note } from "../parts/note.tsx";
import { Table } from "../parts/table.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { texts } from "./knowledge-words.ts";
import { candidateLocation, score } from "./scores.ts";

const names = texts.query;

/** How passages were found: from the question to what went into the context. */
export function Trace({ trace }: { readonly trace: TraceView }) {
  const { question, searched, collections, notes, candidates, reranker } = trace;
  return (
    <details open>
      <summary className="min-h-6 font-semibold">{names.trace}</summary>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 pt-3">
        <dl className="facts">
          <dt>{names.asked}</dt>
          <dd>{question}</dd>
          <dt>{names.searched}</dt>
          <dd>{searched ?? <span className="text-muted">{names.notRewritten}</span>}</dd>
          <dt>{names.inCollections}</dt>
          <dd>
            {collections.map(({ id, name, retrieval, weight, embeddingModel, indexing }) => (
              <div key={id}>
                <PageLink to={`/knowledge/${id}`}>{name}</PageLink>{" "}
                <span className="text-muted">
                  {[
                    texts.form.retrievals[retrieval],
                    retrieval === "hybrid" && names.weight(score(weight)),
                    embeddingModel !== "none" && embeddingModel,
                    indexing !== undefined && texts.indexing(indexing),
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </div>
            ))}
          </dd>
          <dt>{names.how}</dt>
          <dd>
            {[...trace.lexical, ...trace.vector]
              .map(way)
              .concat(reranker ?? [])
              .join(", ")}
          </dd>
          <dt>{names.times}</dt>
          <dd>
            <Times of={trace.milliseconds} />
          </dd>
          <dt>{names.notes}</dt>
          <dd>
            {notes.length === 0 ? (
              <span className="text-muted">{names.noNotes}</span>
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
  if (name === "bm25" || name === "terms" || name === "exact" || name === "scan") return names[name];
  return names.index(name);
}

function Times({ of }: { readonly of: TraceView["milliseconds"] }) {
  const stages = (Object.keys(names.stages) as (keyof typeof names.stages)[]).filter(
    (stage) => of[stage] !== undefined,
  );
  const most = Math.max(1, ...Object.values(of));
  return (
    <div className="stage-times">
      {stages.map((stage) => (
        <div key={stage} className="contents">
          <span>{names.stages[stage]}</span>
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
  const head = [
    names.passage,
    names.became,
    names.wordsHead,
    names.meaningHead,
    names.fusedHead,
    ...(isReranked ? [names.rerankHead] : []),
  ];
  return (
    <Table name={names.candidates} head={head} numbersFrom={2}>
      {of.map((candidate) => {
        const { collectionId, documentId, documentName, ordinal, charStart, charEnd, lexical, vector } = candidate;
        return (
          <tr key={`${documentId} ${ordinal}`}>
            <th scope="row" className="min-w-40 font-normal">
              <PageLink to={`/knowledge/${collectionId}?document=${documentId}&from=${charStart}&to=${charEnd}`}>
                {documentName}
              </PageLink>{" "}
              <span className="font-normal text-muted">
                {candidateLocation(candidate) || texts.reader.chunk(ordinal + 1)}
              </span>
            </th>
            <td>
              {candidate.place === undefined ? (
                <State grade="quiet">{names.cut[candidate.cut ?? "rank"]}</State>
              ) : (
                <State grade="ok">
                  [{candidate.place}] {names.taken}
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
