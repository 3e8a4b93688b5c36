import { t } from "@lingui/core/macro";
import type { ChunkView, DocumentView } from "../../src/protocol/knowledge/documents.ts";
import { figure } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import type { PassagePlace } from "./text-windows.ts";

const pageSize = 20;

type ChunksProps = { readonly document: DocumentView; readonly passage: PassagePlace | undefined };

/** The chunks of a document, a page: beginning with the one that the address names, or that holds the passage. */
export function DocumentChunks({ document: { id, collectionId, chunks: all }, passage }: ChunksProps) {
  const named = useQuery().get("chunk");
  const begin = named === null ? undefined : Math.max(0, Number.parseInt(named, 10) || 0);
  const page = begin === undefined && passage ? { at: passage.from } : { after: (begin ?? 0) - 1 };
  const loaded = useAnswer(["chunks", id, page], (signal) =>
    client.knowledge.chunks(id, { ...page, limit: pageSize }, signal),
  );
  const shown = loaded.data ?? [];
  const [first, last] = [shown[0]?.ordinal ?? 0, shown.at(-1)?.ordinal ?? 0];
  const pages = all > shown.length && (
    <div className="flex flex-wrap items-center gap-2">
      <button
        type="button"
        className="button"
        disabled={first === 0}
        onClick={() => changeQuery({ chunk: String(Math.max(0, first - pageSize)) })}
      >
        {t`Earlier`}
      </button>
      <span>{t`${{ first: first + 1 }}–${{ last: last + 1 }} of ${all}`}</span>
      <button
        type="button"
        className="button"
        disabled={last + 1 >= all}
        onClick={() => changeQuery({ chunk: String(last + 1) })}
      >
        {t`Later`}
      </button>
    </div>
  );
  return (
    <>
      <Waiting of={loaded} />
      {pages}
      <ol className="grid gap-4">
        {shown.map((chunk) => (
          <Chunk key={chunk.ordinal} chunk={chunk} path={`/knowledge/${collectionId}?document=${id}`} />
        ))}
      </ol>
      {shown.length > 5 && pages}
    </>
  );
}

function Chunk({ chunk, path }: { readonly chunk: ChunkView; readonly path: string }) {
  const { ordinal, charStart, charEnd, page, headingPath, tokens, overlap, text } = chunk;
  const facts = [
    page !== null && t`page ${page}`,
    headingPath.join(" › "),
    t`${{ count: figure(tokens) }} tokens`,
    overlap > 0 && t`${{ count: figure(overlap) }} characters shared with the previous chunk`,
  ];
  return (
    <li className="border-t border-hairline pt-3">
      <p className="flex flex-wrap gap-x-3 pb-1">
        <strong>{t`Chunk ${{ ordinal: ordinal + 1 }}`}</strong>
        <span className="text-muted">{facts.filter(Boolean).join(" · ")}</span>
        <PageLink to={`${path}&from=${charStart}&to=${charEnd}`}>{t`show in text`}</PageLink>
      </p>
      <div className="reader" style={{ fontSize: 14 }}>
        {overlap > 0 && <span className="chunk-overlap">{text.slice(0, overlap)}</span>}
        {text.slice(overlap)}
      </div>
    </li>
  );
}
