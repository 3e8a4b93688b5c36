import { X } from "lucide-react";
import { useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { CollectionView, KnowledgeChoices } from "../../src/protocol/knowledge/collections.ts";
import { figure } from "../parts/format.ts";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { navigateUnlessLeft } from "../page/path.ts";
import { client } from "../page/server.ts";
import {
  changedSettings,
  cuttingKeys,
  CuttingFields,
  DescriptionField,
  ModelField,
  SearchingFields,
  searchingKeys,
  collectionForm,
} from "./collection-fields.tsx";

const shareNames = { everyone: t`everyone with an account`, user: t`person`, group: t`group` };

type SettingsProps = {
  readonly collection: CollectionView;
  readonly choices: KnowledgeChoices;
  readonly onChange: () => void;
};

/** What its owner can change of a collection. */
export function CollectionSettings({ collection, choices, onChange }: SettingsProps) {
  const given = { collection, choices, onChange };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <About {...given} />
      <Sharing collection={collection} onChange={onChange} />
      <Searching {...given} />
      <Cutting {...given} />
      <Removal collection={collection} />
    </div>
  );
}

function About({ collection, onChange }: SettingsProps) {
  const [written, setWritten] = useState(() => collectionForm(collection));
  const [isSaved, setSaved] = useState(false);
  return (
    <section className="grid gap-2">
      <h2>{t`Name and description`}</h2>
      <Form
        name={t`Name and description`}
        asksBeforeLeaving
        submit={t`Save`}
        onSubmit={async () => {
          const { name, description } = written;
          await client.knowledge.change(collection.id, { name, description });
          setSaved(true);
          onChange();
        }}
        beside={<Saved isSaved={isSaved} />}
      >
        <div className="grid basis-full gap-3 sm:max-w-xl">
          <TextField
            label={t`Name`}
            name="name"
            value={written.name}
            onChange={(name) => {
              setWritten({ ...written, name });
              setSaved(false);
            }}
            isNeeded
          />
          <DescriptionField
            written={written}
            onChange={(next) => {
              setWritten(next);
              setSaved(false);
            }}
          />
        </div>
      </Form>
    </section>
  );
}

function Searching({ collection, choices, onChange }: SettingsProps) {
  const begun = collectionForm(collection);
  const [written, setWritten] = useState(begun);
  const [isSaved, setSaved] = useState(false);
  return (
    <section className="grid gap-2">
      <h2>{t({ context: "noun", message: `Search` })}</h2>
      <p className="text-muted">{t`Takes effect with the next query.`}</p>
      <Form
        name={t({ context: "noun", message: `Search` })}
        asksBeforeLeaving
        submit={t`Save`}
        onSubmit={async () => {
          await client.knowledge.change(collection.id, { settings: changedSettings(begun, written, searchingKeys) });
          setSaved(true);
          onChange();
        }}
        beside={<Saved isSaved={isSaved} />}
      >
        <SearchingFields
          written={written}
          choices={choices}
          onChange={(next) => {
            setWritten(next);
            setSaved(false);
          }}
        />
      </Form>
    </section>
  );
}

/** What counts only once all is read again. */
function Cutting({ collection, choices, onChange }: SettingsProps) {
  const begun = collectionForm(collection);
  const [written, setWritten] = useState(begun);
  const { documents, queued, working, ready } = collection.counts;
  const settings = changedSettings(begun, written, cuttingKeys);
  const isOther = Object.keys(settings).length > 0 || written.embeddingModel !== begun.embeddingModel;
  const fields = { written, choices, onChange: setWritten };
  return (
    <section className="grid gap-2">
      <h2>{t`Indexing`}</h2>
      <p className="text-muted">{t`Takes effect when documents are re-indexed. Until then, each stays searchable by words.`}</p>
      <Form
        name={t`Indexing`}
        asksBeforeLeaving
        submit={documents === 0 ? t`Save` : t`Re-index all documents`}
        isSure={
          documents === 0
            ? undefined
            : () =>
                confirmAction({
                  ...{
                    title: plural(
                      { count: documents },
                      { one: "Re-index # document?", other: "Re-index # documents?" },
                    ),
                    text: t`They stay searchable meanwhile.`,
                  },
                  action: t`Re-index all documents`,
                  isGrave: false,
                })
        }
        onSubmit={async () => {
          const { embeddingModel } = written;
          await client.knowledge.reindex(collection.id, { embeddingModel, settings });
          onChange();
        }}
        beside={
          <span role="status" className="self-center">
            {queued + working > 0
              ? t`Re-indexing: ${{ done: ready }} of ${{ all: documents }} ready.`
              : isOther && documents > 0
                ? t`These changes require re-indexing.`
                : undefined}
          </span>
        }
      >
        <div className="basis-full sm:max-w-xl">
          <ModelField {...fields} />
        </div>
        <CuttingFields {...fields} />
      </Form>
    </section>
  );
}

function Saved({ isSaved }: { readonly isSaved: boolean }) {
  return (
    <span role="status" className="self-center text-ok">
      {isSaved ? t`Saved.` : ""}
    </span>
  );
}

const kinds = ["user", "group", "everyone"] as const;

function Sharing({ collection: { id, sharedWith }, onChange }: Omit<SettingsProps, "choices">) {
  const [kind, setKind] = useState<(typeof kinds)[number]>("user");
  const [name, setName] = useState("");
  const share = async (next: readonly string[]) => {
    await client.knowledge.change(id, { sharedWith: next });
    onChange();
  };
  return (
    <section className="grid gap-2">
      <h2>{t`Sharing`}</h2>
      <p className="text-muted">{t`They can search and read. Only you can change or share it.`}</p>
      {sharedWith.length === 0 ? (
        <p>{t`Only you have access.`}</p>
      ) : (
        <ul className="flex flex-wrap gap-2">
          {sharedWith.map((who) => (
            <li key={who} className="tile">
              {readable(who)}
              <Act
                look="icon-button"
                name={t`Stop sharing with ${{ who: readable(who) }}`}
                onAct={() => share(sharedWith.filter((each) => each !== who))}
              >
                <X size={16} aria-hidden />
              </Act>
            </li>
          ))}
        </ul>
      )}
      <Form
        name={t`Sharing`}
        submit={t`Share`}
        onSubmit={async () => {
          await share([...sharedWith, kind === "everyone" ? kind : `${kind}:${name.trim()}`]);
          setName("");
        }}
      >
        <ChoiceField
          label={t`Share with`}
          value={kind}
          onChange={(value) => setKind(kinds.find((each) => each === value)!)}
          options={kinds.map((each) => [each, shareNames[each]])}
        />
        {kind !== "everyone" && <TextField label={t`Name`} value={name} onChange={setName} isNeeded />}
      </Form>
    </section>
  );
}

/** `user:ann` in words. */
function readable(who: string): string {
  const [, kind, name] = /^(user|group):(.+)$/.exec(who) ?? [];
  return kind === "user" || kind === "group" ? `${shareNames[kind]} ${name}` : t`everyone with an account`;
}

function Removal({ collection: { id, name, counts } }: { readonly collection: CollectionView }) {
  return (
    <section className="grid justify-items-start gap-2 border-t border-hairline pt-4">
      <h2>{t`Delete this collection`}</h2>
      <p className="text-muted">
        {t`Permanently deletes ${plural({ count: counts.documents }, { one: "# document", other: "# documents" })} with originals and texts, ${{ chunks: plural({ count: counts.chunks }, { one: `${{ shown: figure(counts.chunks) }} chunk`, other: `${{ shown: figure(counts.chunks) }} chunks` }) }}, and the traces of past queries.`}
      </p>
      <Act
        isSure={() =>
          confirmAction({
            ...{
              title: t`Delete this collection?`,
              text: t`“${name}” is permanently deleted with ${plural({ count: counts.documents }, { one: "# document", other: "# documents" })}: originals, texts, chunks and past queries. This can't be undone.`,
            },
            action: t`Delete`,
          })
        }
        onAct={async () => {
          const leadOn = navigateUnlessLeft();
          await client.knowledge.removeCollection(id);
          leadOn("/knowledge");
        }}
      >
        <span className="text-bad">{t`Delete this collection`}</span>
      </Act>
    </section>
  );
}
