import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { t } from "@lingui/core/macro";
import type { CollectionView } from "../../src/protocol/knowledge/collections.ts";
import { figure, size } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { changeQuery, navigateUnlessLeft, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { AboutFields, changedSettings, CuttingFields, SearchingFields, collectionForm } from "./collection-fields.tsx";

/** How often it is looked how far an index is, of which no events tell: all chunks are counted for it. False: none is being made. */
export function lookMs(collections: readonly CollectionView[]): number | false {
  return collections.some(({ indexing }) => indexing !== undefined) && 3000;
}

/** One's own and those that are shared with one. */
export function Collections({ of }: { readonly of: readonly CollectionView[] }) {
  const isNew = useQuery().has("new");
  return (
    <>
      {of.length === 0 && (
        <div className="max-w-prose">
          <p>{t`No collections yet. A collection holds documents that agents search and that you can query yourself.`}</p>
          <p className="text-muted">{t`Create one, then add files, texts or web addresses.`}</p>
        </div>
      )}
      {isNew ? (
        <NewCollection />
      ) : (
        <div>
          <button type="button" className="button-main" onClick={() => changeQuery({ new: "1" })}>
            <Plus size={16} aria-hidden /> {t`New collection`}
          </button>
        </div>
      )}
      {of.length > 0 && (
        <Table
          name={t`Collections`}
          head={[t`Name`, t`Documents`, t`Search by`, t`Owner`, t`Chunks`, t`Size`]}
          numbersFrom={4}
        >
          {of.map((collection) => (
            <Row key={collection.id} collection={collection} />
          ))}
        </Table>
      )}
    </>
  );
}

function Row({ collection }: { readonly collection: CollectionView }) {
  const { id, name, description, embeddingModel, owner, isOwn, counts, indexing } = collection;
  return (
    <tr>
      <th scope="row" className="min-w-40">
        <PageLink to={`/knowledge/${id}`}>
          <bdi>{name}</bdi>
        </PageLink>
        {description !== "" && <div className="line-clamp-2 max-w-prose font-normal text-muted">{description}</div>}
      </th>
      <td>
        <Counts of={counts} />
        <Indexing percent={indexing} />
      </td>
      <td>{embeddingModel === "none" ? t`words` : embeddingModel}</td>
      <td>{isOwn ? t`you` : owner}</td>
      <td className="number">{figure(counts.chunks)}</td>
      <td className="number">{size(counts.bytes)}</td>
    </tr>
  );
}

/** How its documents are. */
export function Counts({
  of: { documents, queued, working, ready, failed },
}: {
  readonly of: CollectionView["counts"];
}) {
  if (documents === 0) return <span className="text-muted">{t`no documents`}</span>;
  return (
    <span className="flex flex-wrap gap-x-3">
      {ready > 0 && <State grade="ok">{t`${{ count: ready }} ready`}</State>}
      {queued + working > 0 && <State grade="warn">{t`${{ count: queued + working }} processing`}</State>}
      {failed > 0 && <State grade="bad">{t`${{ count: failed }} failed`}</State>}
    </span>
  );
}

/** That the words of its chunks are not all indexed, and how far they are. */
export function Indexing({
  percent,
  children,
}: {
  readonly percent: number | undefined;
  readonly children?: ReactNode;
}) {
  if (percent === undefined) return null;
  return (
    <div>
      <State grade="warn">{t`indexing ${percent}%`}</State>
      {children}
    </div>
  );
}

function NewCollection() {
  const choices = useAnswer(["knowledge", "choices"], client.knowledge.choices);
  return choices.data ? <NewCollectionForm choices={choices.data} /> : <Waiting of={choices} />;
}

type Choices = Awaited<ReturnType<typeof client.knowledge.choices>>;

function NewCollectionForm({ choices }: { readonly choices: Choices }) {
  const begun = collectionForm({ name: "", description: "", settings: choices.defaults, ...choices.defaults });
  const [written, setWritten] = useState(begun);
  const fields = { written, onChange: setWritten, choices };
  return (
    <section aria-label={t`New collection`} className="rounded-card border border-hairline p-4">
      <Form
        name={t`New collection`}
        submit={t`Create collection`}
        onSubmit={async () => {
          const leadOn = navigateUnlessLeft();
          const settings = changedSettings(begun, written);
          const { name, description, embeddingModel } = written;
          const { id } = await client.knowledge.create({ name, description, embeddingModel, settings });
          leadOn(`/knowledge/${id}`);
        }}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ new: undefined })}>
            {t`Cancel`}
          </button>
        }
      >
        <h2 className="basis-full">{t`New collection`}</h2>
        <AboutFields {...fields} />
        <details className="basis-full">
          <summary className="min-h-6">{t`Chunking and search`}</summary>
          <div className="grid gap-5 pt-3">
            <CuttingFields {...fields} />
            <SearchingFields {...fields} />
          </div>
        </details>
      </Form>
    </section>
  );
}
