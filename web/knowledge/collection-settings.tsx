import { X } from "lucide-react";
import { useState } from "react";
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
import { texts } from "./knowledge-words.ts";

const names = texts.form;

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
      <h2>{names.about}</h2>
      <Form
        name={names.about}
        submit={names.save}
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
            label={texts.name}
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
      <h2>{names.searching}</h2>
      <p className="text-muted">{names.searchingNote}</p>
      <Form
        name={names.searching}
        submit={names.save}
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
      <h2>{names.cutting}</h2>
      <p className="text-muted">{names.cuttingNote}</p>
      <Form
        name={names.cutting}
        submit={documents === 0 ? names.reindexEmpty : names.reindex}
        isSure={
          documents === 0
            ? undefined
            : () => confirmAction({ ...names.reindexSure(documents), action: names.reindex, isGrave: false })
        }
        onSubmit={async () => {
          const { embeddingModel } = written;
          await client.knowledge.reindex(collection.id, { embeddingModel, settings });
          onChange();
        }}
        beside={
          <span role="status" className="self-center">
            {queued + working > 0
              ? names.reindexing(ready, documents)
              : isOther && documents > 0
                ? names.needed
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
      {isSaved ? names.saved : ""}
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
      <h2>{texts.share.title}</h2>
      <p className="text-muted">{texts.share.may}</p>
      {sharedWith.length === 0 ? (
        <p>{texts.share.nobody}</p>
      ) : (
        <ul className="flex flex-wrap gap-2">
          {sharedWith.map((who) => (
            <li key={who} className="tile">
              {readable(who)}
              <Act
                look="icon-button"
                name={texts.share.remove(readable(who))}
                onAct={() => share(sharedWith.filter((each) => each !== who))}
              >
                <X size={16} aria-hidden />
              </Act>
            </li>
          ))}
        </ul>
      )}
      <Form
        name={texts.share.title}
        submit={texts.share.add}
        onSubmit={async () => {
          await share([...sharedWith, kind === "everyone" ? kind : `${kind}:${name.trim()}`]);
          setName("");
        }}
      >
        <ChoiceField
          label={texts.share.kind}
          value={kind}
          onChange={(value) => setKind(kinds.find((each) => each === value)!)}
          options={kinds.map((each) => [each, texts.share[each]])}
        />
        {kind !== "everyone" && <TextField label={texts.share.name} value={name} onChange={setName} isNeeded />}
      </Form>
    </section>
  );
}

/** `user:ann` in words. */
function readable(who: string): string {
  const [, kind, name] = /^(user|group):(.+)$/.exec(who) ?? [];
  return kind === "user" || kind === "group" ? `${texts.share[kind]} ${name}` : texts.share.everyone;
}

function Removal({ collection: { id, name, counts } }: { readonly collection: CollectionView }) {
  return (
    <section className="grid justify-items-start gap-2 border-t border-hairline pt-4">
      <h2>{texts.danger}</h2>
      <p className="text-muted">
        {texts.dangerNote(counts.documents, texts.chunkCount(counts.chunks, figure(counts.chunks)))}
      </p>
      <Act
        isSure={() => confirmAction({ ...texts.removeSure(name, counts.documents), action: texts.remove })}
        onAct={async () => {
          const leadOn = navigateUnlessLeft();
          await client.knowledge.removeCollection(id);
          leadOn("/knowledge");
        }}
      >
        <span className="text-bad">{texts.danger}</span>
      </Act>
    </section>
  );
}
