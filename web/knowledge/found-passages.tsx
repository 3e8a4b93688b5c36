import { plural, t } from "@lingui/core/macro";
import type { CandidateView, KnowledgeAnswer, TraceView } from "../../src/protocol/knowledge/passages.ts";
import { duration } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";
import { candidateLocation, score } from "./scores.ts";
import { Trace } from "./trace.tsx";

type FoundPassagesProps = {
  readonly trace: TraceView;
  /** With their texts; absent: as the trace tells, whose texts are asked for. */
  readonly passages?: KnowledgeAnswer["passages"];
};

/** The passages of an answer, and how they were found. */
export function FoundPassages({ trace, passages }: FoundPassagesProps) {
  const taken = trace.candidates
    .filter(({ place }) => place !== undefined)
    .toSorted((one, other) => one.place! - other.place!);
  const time = Object.values(trace.milliseconds).reduce((sum, each) => sum + each, 0);
  return (
    <section aria-label={trace.question} className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2>{trace.question}</h2>
      <p role="status" className="text-muted">
        {taken.length === 0
          ? t`No results. Try other words, or a collection with more documents.`
          : t`${plural({ passages: taken.length }, { one: "# passage", other: "# passages" })} of ${plural({ candidates: trace.candidates.length }, { one: "# candidate", other: "# candidates" })} in ${{ time: duration(time) }}`}
      </p>
      <ol className="grid gap-4">
        {taken.map((candidate, at) => (
          <Passage key={candidate.place} candidate={candidate} text={passages?.[at]?.text} />
        ))}
      </ol>
      <Trace trace={trace} />
    </section>
  );
}

function Passage({ candidate, text }: { readonly candidate: CandidateView; readonly text: string | undefined }) {
  const { place, collectionId, documentId, documentName, charStart, charEnd } = candidate;
  const { lexical, vector, relevance } = candidate;
  const scores = [
    lexical && t`words #${{ rank: lexical.rank }} (${{ score: score(lexical.score) }})`,
    vector && t`meaning #${{ rank: vector.rank }} (${{ score: score(vector.similarity) }})`,
    t`combined ${{ score: score(candidate.score) }}`,
    relevance !== undefined && t`reranker ${{ score: score(relevance) }}`,
  ];
  return (
    <li className="grid grid-cols-[2.2em_minmax(0,1fr)]">
      <span className="text-muted">[{place}]</span>
      <div className="grid gap-1">
        <p className="flex flex-wrap gap-x-3">
          <PageLink to={`/knowledge/${collectionId}?document=${documentId}&from=${charStart}&to=${charEnd}`}>
            <bdi>{documentName}</bdi>
          </PageLink>
          <span className="text-muted">{candidateLocation(candidate)}</span>
        </p>
        {text === undefined ? (
          <KeptText candidate={candidate} />
        ) : (
          <p dir="auto" className="snippet line-clamp-6">
            {close(text)}
          </p>
        )}
        <p className="text-muted">{scores.filter(Boolean).join(" · ")}</p>
      </div>
    </li>
  );
}

/** Without empty lines, so that more of it is seen. */
function close(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n")
    .trim();
}

/** What stands now where it was found. */
function KeptText({ candidate: { documentId, charStart, charEnd } }: { readonly candidate: CandidateView }) {
  const { data, problem } = useAnswer(["passage", documentId, charStart], (signal) =>
    client.knowledge.textPart(documentId, { from: charStart, to: charEnd }, signal),
  );
  if (problem !== undefined) return <p className="text-muted">{t`Its text no longer exists.`}</p>;
  return (
    <p dir="auto" className="snippet line-clamp-6 min-h-[1.6em]">
      {close(data?.text ?? "")}
    </p>
  );
}
