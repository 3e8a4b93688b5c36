import { Download } from "lucide-react";
import { plural, t } from "@lingui/core/macro";
import type { DocumentView } from "../../src/protocol/knowledge/documents.ts";
import type { CollectionView } from "../../src/protocol/knowledge/collections.ts";
import { figure, size } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { goTo, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { DocumentChunks } from "./document-chunks.tsx";
import { DocumentState } from "./document-state.tsx";
import { DocumentActs, isKnown } from "./document-table.tsx";
import { DocumentText } from "./document-text.tsx";
import type { PassagePlace } from "./text-windows.ts";

type PageProps = {
  readonly id: string;
  readonly collection: CollectionView | undefined;
  /** Of its collection all is known that will be: what came later above a text would move what is being read. */
  readonly isPlaceKnown: boolean;
};

/** One document: its text, at a passage if the address names one, or its chunks. */
export function DocumentPage({ id, collection, isPlaceKnown }: PageProps) {
  const query = useQuery();
  const loaded = useAnswer(["documents", "one", id], (signal) => client.knowledge.document(id, signal));
  const document = loaded.data;
  if (!document) return <Waiting of={loaded} />;
  if (!isPlaceKnown) return null;
  const shelf = `/knowledge/${document.collectionId}`;
  const isChunks = query.get("tab") === "chunks";
  const passage = passageOf(query);
  const address = `${shelf}?document=${id}${passage ? `&from=${passage.from}&to=${passage.to}` : ""}`;
  return (
    <article className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header className="grid gap-2">
        {collection && (
          <p>
            <PageLink to={shelf}>{collection.name}</PageLink>
          </p>
        )}
        <h1 className="break-words">{document.name}</h1>
        <div className="flex flex-wrap items-start gap-x-4 gap-y-1 [&>div]:min-w-0">
          <DocumentState document={document} />
          <span className="text-muted">{factsOf(document)}</span>
        </div>
        <div className="row-actions -ms-1.5 flex flex-wrap items-center">
          <a
            className="button inline-flex items-center gap-1"
            href={client.knowledge.addressOf(id)}
            download
            aria-label={`${t`Original`}: ${document.name}`}
          >
            <Download size={16} aria-hidden /> {t`Original`}
          </a>
          {collection?.isOwn && (
            <DocumentActs document={document} onChange={loaded.reload} onRemoved={() => goTo(shelf)} />
          )}
        </div>
        <nav aria-label={document.name} className="flex border-b border-hairline">
          <PageLink to={address} look="section-link" isCurrent={!isChunks}>
            {t`Text`}
          </PageLink>
          <PageLink to={`${address}&tab=chunks`} look="section-link" isCurrent={isChunks}>
            {t`Chunks`}
          </PageLink>
        </nav>
      </header>
      {document.revision === 0 ? (
        <p className="text-muted">{t`You can read it here as soon as it is ready.`}</p>
      ) : isChunks ? (
        <DocumentChunks key={document.revision} document={document} passage={passage} />
      ) : (
        <DocumentText
          key={`${document.revision} ${passage?.from} ${passage?.to}`}
          document={document}
          passage={passage}
        />
      )}
    </article>
  );
}

function passageOf(query: URLSearchParams): PassagePlace | undefined {
  const [from, to] = [Number(query.get("from") ?? Number.NaN), Number(query.get("to") ?? Number.NaN)];
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && to > from ? { from, to } : undefined;
}

function factsOf({ kind, pages, characters, chunks, bytes }: DocumentView): string {
  return [
    isKnown(kind) && kind,
    pages !== null &&
      plural({ count: pages }, { one: `${{ shown: figure(pages) }} page`, other: `${{ shown: figure(pages) }} pages` }),
    characters > 0 && t`${{ count: figure(characters) }} characters`,
    chunks > 0 &&
      plural(
        { count: chunks },
        { one: `${{ shown: figure(chunks) }} chunk`, other: `${{ shown: figure(chunks) }} chunks` },
      ),
    size(bytes),
  ]
    .filter(Boolean)
    .join(" · ");
}
