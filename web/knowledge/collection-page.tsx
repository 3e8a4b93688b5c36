import { t } from "@lingui/core/macro";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { AddDocuments } from "./add-documents.tsx";
import { Additions } from "./additions.tsx";
import { Ask } from "./ask.tsx";
import { CollectionSettings } from "./collection-settings.tsx";
import { Counts, Indexing, lookMs } from "./collections.tsx";
import { DocumentPage } from "./document-page.tsx";
import { DocumentTable } from "./document-table.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";

/** A collection: its documents, one of them, questions to it, or its settings. */
export function CollectionPage({ id }: { readonly id: string }) {
  const query = useQuery();
  const document = query.get("document");
  const loaded = useAnswer(["collections", id], (signal) => client.knowledge.collection(id, signal), {
    everyMs: (shown) => lookMs(shown ? [shown] : []),
  });
  const choices = useAnswer(["knowledge", "choices"], client.knowledge.choices);
  const collection = loaded.data;
  const path = `/knowledge/${id}`;
  const shown = query.has("trace") ? "ask" : (query.get("show") ?? "documents");
  const tab = (show: string, name: string) => ({
    to: show === "documents" ? path : `${path}?show=${show}`,
    name,
    isCurrent: document === null && shown === show,
  });
  return (
    <KnowledgeFrame
      tabs={[
        { to: "/knowledge", name: t`Collections`, isCurrent: false },
        tab("documents", t`Documents`),
        tab("ask", t`Ask`),
        ...(collection?.isOwn ? [tab("settings", t`Settings`)] : []),
      ]}
    >
      <Waiting of={loaded} />
      {document !== null ? (
        <DocumentPage
          key={document}
          id={document}
          collection={collection}
          isPlaceKnown={collection !== undefined || loaded.problem !== undefined}
        />
      ) : (
        collection && (
          <>
            <header className="grid gap-1">
              <h1>{collection.name}</h1>
              {collection.description !== "" && <p className="max-w-prose">{collection.description}</p>}
              {!collection.isOwn && (
                <p className="text-muted">{t`Shared with you by ${{ owner: collection.owner }}: you can search and read it.`}</p>
              )}
              {shown !== "documents" && <Counts of={collection.counts} />}
              <Indexing percent={collection.indexing}>
                <span className="text-muted">. {t`You can still search everything; it only takes longer.`}</span>
              </Indexing>
            </header>
            {shown === "ask" ? (
              <Ask collections={[collection]} />
            ) : shown === "settings" && collection.isOwn ? (
              choices.data ? (
                <CollectionSettings collection={collection} choices={choices.data} onChange={loaded.reload} />
              ) : (
                <Waiting of={choices} />
              )
            ) : (
              <>
                {collection.isOwn && <AddDocuments id={id} choices={choices.data} />}
                {collection.isOwn && <Additions id={id} onChange={loaded.reload} />}
                <DocumentTable collection={collection} onChange={loaded.reload} />
              </>
            )}
          </>
        )
      )}
      {loaded.problem !== undefined && <PageLink to="/knowledge">{t`Collections`}</PageLink>}
    </KnowledgeFrame>
  );
}
