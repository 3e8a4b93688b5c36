import { t } from "@lingui/core/macro";
import type { DocumentView } from "../../src/protocol/knowledge/documents.ts";
import type { CollectionView } from "../../src/protocol/knowledge/collections.ts";
import type { DocumentStatus } from "../../src/protocol/knowledge/chunks.ts";
import { figure, size } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Act } from "../parts/action-button.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { changeQuery, goTo, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { resumeFollowing, forgetDocument } from "./uploads-store.ts";
import { Counts } from "./collections.tsx";
import { DocumentState } from "./document-state.tsx";
import { stateNames } from "./knowledge-names.ts";

const pageSize = 50;
const statuses = Object.keys(stateNames) as DocumentStatus[];

type DocumentTableProps = { readonly collection: CollectionView; readonly onChange: () => void };

/** The documents of a collection by name, a page; what is looked for stands in the address. */
export function DocumentTable({ collection: { id, isOwn, counts }, onChange }: DocumentTableProps) {
  const query = useQuery();
  const search = query.get("search") ?? "";
  const status = statuses.find((each) => each === query.get("state"));
  const after = query.get("after") ?? undefined;
  const page = { limit: pageSize + 1, search: search || undefined, status, after };
  const loaded = useAnswer(["documents", id, page], (signal) => client.knowledge.documents(id, page, signal));
  const isFiltered = search !== "" || status !== undefined;
  const changed = () => {
    loaded.reload();
    onChange();
  };
  const isEmpty = counts.documents === 0;

  if (isEmpty)
    return (
      <p className="text-muted">
        {isOwn
          ? t`No documents yet. Add some above; each can be searched as soon as it is ready.`
          : t`No documents yet`}
      </p>
    );
  return (
    <section aria-label={t`Documents`} className="grid gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label={t`Name contains`}
          type="search"
          value={search}
          onChange={(value) => changeQuery({ search: value, after: undefined })}
        />
        <ChoiceField
          label={t`State`}
          value={status ?? ""}
          onChange={(value) => changeQuery({ state: value, after: undefined })}
          options={[["", t`any`], ...statuses.map((each) => [each, stateNames[each]] as const)]}
        />
        <div className="ms-auto self-center">
          <Counts of={counts} />
        </div>
      </div>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && (
        <p>
          {t`No matching documents`}{" "}
          {(isFiltered || after !== undefined) && <PageLink to={`/knowledge/${id}`}>{t`Show all`}</PageLink>}
        </p>
      )}
      {loaded.data && loaded.data.length > 0 && (
        <Table
          name={t`Documents`}
          head={[t`Name`, t`State`, t`Kind`, t`Pages`, t`Chunks`, t`Size`, ...(isOwn ? [t`Actions`] : [])]}
          numbersFrom={3}
          numbersTo={6}
        >
          {loaded.data.slice(0, pageSize).map((document) => (
            <Row key={document.id} document={document} isOwn={isOwn} onChange={changed} />
          ))}
        </Table>
      )}
      <Pages path={`/knowledge/${id}`} query={query} next={nextOf(loaded.data)} />
    </section>
  );
}

/** The last name of the page, if there is another one. */
function nextOf(documents: readonly DocumentView[] | undefined): string | undefined {
  return documents && documents.length > pageSize ? documents[pageSize - 1]!.name : undefined;
}

function Row({
  document,
  isOwn,
  onChange,
}: {
  readonly document: DocumentView;
  readonly isOwn: boolean;
  readonly onChange: () => void;
}) {
  const { id, collectionId, name, kind, pages, chunks, bytes } = document;
  return (
    <tr>
      <th scope="row" className="min-w-40 break-words">
        <PageLink to={`/knowledge/${collectionId}?document=${id}`}>
          <bdi>{name}</bdi>
        </PageLink>
      </th>
      <td>
        <DocumentState document={document} />
      </td>
      <td>{isKnown(kind) ? kind : "–"}</td>
      <td className="number">{pages ?? "–"}</td>
      <td className="number">{figure(chunks)}</td>
      <td className="number">{size(bytes)}</td>
      {isOwn && (
        <td>
          <div className="row-actions">
            <DocumentActs document={document} onChange={onChange} onRemoved={onChange} />
          </div>
        </td>
      )}
    </tr>
  );
}

/** What is no text and none of the formats that are read has no name. */
export function isKnown(kind: DocumentView["kind"]): boolean {
  return kind !== null && kind !== "binary";
}

/** What its owner can do with a document. */
export function DocumentActs({
  document: { id, collectionId, name, source, status },
  onChange,
  onRemoved,
}: {
  readonly document: DocumentView;
  readonly onChange: () => void;
  readonly onRemoved: () => void;
}) {
  const isWeb = source.kind === "url" && source.url !== undefined;
  const isAgain: Readonly<Record<DocumentStatus, boolean>> = {
    queued: false,
    working: false,
    ready: isWeb,
    failed: true,
  };
  const again = isWeb ? t`Fetch again` : t`Process again`;
  return (
    <>
      {isAgain[status] && (
        <Act
          name={`${again}: ${name}`}
          onAct={async () => {
            const next = isWeb
              ? (await client.knowledge.addUrls(collectionId, [source.url!])).data[0]?.document
              : await client.knowledge.retry(id);
            if (next) resumeFollowing(next);
            onChange();
          }}
        >
          {again}
        </Act>
      )}
      <Act
        name={`${t`Delete`}: ${name}`}
        isSure={() =>
          confirmAction({
            ...{
              title: t`Delete this document?`,
              text: t`“${name}” is permanently deleted with its original, text and chunks.`,
            },
            action: t`Delete`,
          })
        }
        onAct={async () => {
          await client.knowledge.removeDocument(id);
          forgetDocument(id);
          onRemoved();
        }}
      >
        {t`Delete`}
      </Act>
    </>
  );
}

type PagesProps = { readonly path: string; readonly query: URLSearchParams; readonly next: string | undefined };

/** Each page has its address, so that the browser's own button leads back. */
function Pages({ path, query, next }: PagesProps) {
  const isFirst = !query.has("after");
  if (isFirst && next === undefined) return null;
  const go = (after: string | undefined) => {
    const there = new URLSearchParams(query);
    if (after === undefined) there.delete("after");
    else there.set("after", after);
    goTo(`${path}?${there}`);
  };
  return (
    <div className="flex gap-2">
      <button type="button" className="button" disabled={isFirst} onClick={() => go(undefined)}>
        {t`First page`}
      </button>
      <button type="button" className="button" disabled={next === undefined} onClick={() => go(next)}>
        {t`Next page`}
      </button>
    </div>
  );
}
