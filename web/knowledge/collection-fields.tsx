import { t } from "@lingui/core/macro";
import type { CollectionView, KnowledgeChoices } from "../../src/protocol/knowledge/collections.ts";
import type { CollectionInput } from "../../src/client/knowledge.ts";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";

/** A collection as it is written in a form: all of it texts. */
export type CollectionForm = Readonly<
  Record<
    | "name"
    | "description"
    | "embeddingModel"
    | "chunkSize"
    | "chunkOverlap"
    | "language"
    | "retrieval"
    | "hybridWeight"
    | "indexType"
    | "rewrite"
    | "reranker",
    string
  >
>;

export type FieldsProps = {
  readonly written: CollectionForm;
  readonly onChange: (written: CollectionForm) => void;
  readonly choices: KnowledgeChoices;
};

export function collectionForm({
  name,
  description,
  embeddingModel,
  settings,
}: Pick<CollectionView, "name" | "description" | "embeddingModel" | "settings">): CollectionForm {
  const { chunkSize, chunkOverlap, language, retrieval, hybridWeight, indexType, rewrite, reranker } = settings;
  return {
    name,
    description,
    embeddingModel,
    chunkSize: String(chunkSize),
    chunkOverlap: String(chunkOverlap),
    language,
    retrieval: retrieval ?? "",
    hybridWeight: String(hybridWeight),
    indexType,
    rewrite: String(rewrite),
    reranker: reranker ?? "",
  };
}

export const cuttingKeys = ["chunkSize", "chunkOverlap", "language"] as const;
export const searchingKeys = ["retrieval", "hybridWeight", "indexType", "rewrite", "reranker"] as const;

/** What is written otherwise than it was; the server says what can't be. */
export function changedSettings(
  before: CollectionForm,
  now: CollectionForm,
  keys: readonly (keyof CollectionForm)[] = [...cuttingKeys, ...searchingKeys],
): NonNullable<CollectionInput["settings"]> {
  const values: Readonly<Record<string, (text: string) => unknown>> = {
    chunkSize: Number,
    chunkOverlap: Number,
    hybridWeight: Number,
    rewrite: (text) => text === "true",
  };
  const changed = keys.filter((key) => before[key] !== now[key]);
  return Object.fromEntries(changed.map((key) => [key, values[key]?.(now[key]) ?? now[key]]));
}

const grid = "setting-grid grid basis-full gap-x-6 gap-y-4 sm:grid-cols-2 lg:grid-cols-3";

export function AboutFields({ written, onChange, choices }: FieldsProps) {
  return (
    <div className={grid}>
      <TextField
        label={t`Name`}
        name="name"
        value={written.name}
        onChange={(name) => onChange({ ...written, name })}
        isNeeded
      />
      <ModelField written={written} onChange={onChange} choices={choices} />
      <div className="sm:col-span-2 lg:col-span-3">
        <DescriptionField written={written} onChange={onChange} />
      </div>
    </div>
  );
}

export function DescriptionField({ written, onChange }: Omit<FieldsProps, "choices">) {
  return (
    <Field label={t`Description (shown to agents)`} name="description">
      {(control) => (
        <textarea
          {...control}
          className="field text-ink"
          style={{ minHeight: "3.5em", fontFamily: "inherit" }}
          rows={2}
          maxLength={2000}
          value={written.description}
          onChange={(event) => onChange({ ...written, description: event.target.value })}
        />
      )}
    </Field>
  );
}

/** A list where all are known by name, else a line that offers those that are. */
export function ModelField({ written, onChange, choices: { embeddingModels, otherModels, defaults } }: FieldsProps) {
  const others = otherModels.map((name) => (name === "*" ? "http:…, onnx:…, gguf:…" : name)).join(", ");
  const given = {
    label: t`Embedding model`,
    name: "embeddingModel",
    help: `${t`Finds passages by meaning, not only by their words. With “none”, search is by words, which is often good enough.`} ${others === "" ? "" : `${t`Other models you can enter: ${{ names: others }}`}. `}${t`Default: ${{ value: defaults.embeddingModel }}.`}`,
    value: written.embeddingModel,
    onChange: (embeddingModel: string) => onChange({ ...written, embeddingModel }),
  };
  const known = [...new Set([...embeddingModels, written.embeddingModel])];
  return otherModels.length === 0 ? (
    <ChoiceField {...given} options={known.map((each) => [each, each])} />
  ) : (
    <TextField {...given} choices={known} isNeeded />
  );
}

const fieldsOf = (written: CollectionForm, onChange: FieldsProps["onChange"]) => (key: keyof CollectionForm) => ({
  name: `settings.${key}`,
  value: written[key],
  onChange: (value: string) => onChange({ ...written, [key]: value }),
});

export function CuttingFields({ written, onChange, choices: { defaults, languages } }: FieldsProps) {
  const field = fieldsOf(written, onChange);
  return (
    <div className={grid}>
      <TextField
        label={t`Chunk size (tokens)`}
        help={`${t`Longer chunks give more context; shorter ones are matched more precisely.`} ${t`Default: ${{ value: String(defaults.chunkSize) }}.`}`}
        type="number"
        isWhole
        {...field("chunkSize")}
        isNeeded
      />
      <TextField
        label={t`Chunk overlap (tokens)`}
        help={`${t`How much of a chunk the next one repeats. At most half a chunk.`} ${t`Default: ${{ value: String(defaults.chunkOverlap) }}.`}`}
        type="number"
        isWhole
        {...field("chunkOverlap")}
        isNeeded
      />
      <ChoiceField
        label={t`Language`}
        help={`${t`Words are matched in all their forms in this language. Use “simple” for mixed languages.`} ${t`Default: ${{ value: defaults.language }}.`}`}
        {...field("language")}
        options={[...new Set([...languages, written.language])].map((each) => [each, each])}
      />
    </div>
  );
}

export function SearchingFields({ written, onChange, choices: { defaults, rerankers, reranker } }: FieldsProps) {
  const field = fieldsOf(written, onChange);
  return (
    <div className={grid}>
      <ChoiceField
        label={t`Search by`}
        help={t`“both” isn't always better: a weak embedding model gives worse results than words alone.`}
        {...field("retrieval")}
        options={[
          ["", t`both; words if there is no model`],
          ["lexical", t`words`],
          ["vector", t`meaning`],
          ["hybrid", t`both`],
        ]}
      />
      <TextField
        label={t`Weight of meaning`}
        help={`${t`When searching by both: 0 is words only, 1 is meaning only.`} ${t`Default: ${{ value: String(defaults.hybridWeight) }}.`}`}
        type="number"
        most={1}
        {...field("hybridWeight")}
        isNeeded
      />
      <ChoiceField
        label={t`Vector index`}
        help={t`“flat” compares all vectors and misses none; “hnsw” and “ivfflat” compare some; “auto” is flat up to 20,000.`}
        {...field("indexType")}
        options={["auto", "flat", "hnsw", "ivfflat"].map((each) => [each, each])}
      />
      <ChoiceField
        label={t`Rewrite questions`}
        help={t`Agents first rephrase a question in the words that documents would use. Costs one model request.`}
        {...field("rewrite")}
        options={[
          ["false", t`no`],
          ["true", t`yes`],
        ]}
      />
      <ChoiceField
        label={t`Reranker`}
        help={t`Reads question and passage together and reorders the results.`}
        {...field("reranker")}
        options={[
          ["", t`default (${{ name: reranker ?? t`none` }})`],
          ...rerankers.map((each) => [each, each] as const),
          ["none", t`none`],
        ]}
      />
    </div>
  );
}
