import { jsonText, plainText } from "../../protocol/base/json-text.ts";

/** Which passages may be found; all conditions must hold. */
export type SearchFilters = {
  readonly documentIds?: readonly string[] | undefined;
  /** Names of documents, `*` for any text in them; one must fit. */
  readonly documents?: readonly string[] | undefined;
  /** Such as `pdf`, `markdown`. */
  readonly kinds?: readonly string[] | undefined;
  /** Values that a document's metadata must contain. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly pageFrom?: number | undefined;
  readonly pageTo?: number | undefined;
};

type AddParameter = (value: unknown) => string;

/** On `rag_documents d`; undefined: all. */
export function whereDocuments(
  collections: readonly { readonly id: string }[],
  filters: SearchFilters = {},
  parameter: AddParameter,
): string | undefined {
  const { documentIds, documents, kinds, metadata } = filters;
  const conditions = [
    ...(documentIds ? [`d.id = any (${parameter(documentIds)}::uuid[])`] : []),
    ...(documents ? [`d.name like any (${parameter(documents.map(likeOf))}::text[])`] : []),
    ...(kinds ? [`d.kind = any (${parameter(kinds.map(plainText))}::text[])`] : []),
    ...(metadata ? [`d.metadata @> ${parameter(jsonText(metadata))}::jsonb`] : []),
  ];
  if (conditions.length === 0) return undefined;
  return [`d.collection_id = any (${parameter(collections.map(({ id }) => id))}::uuid[])`, ...conditions].join(" and ");
}

/** On `rag_chunks c`. */
export function whereChunks({ pageFrom, pageTo }: SearchFilters = {}, parameter: AddParameter): string | undefined {
  const conditions = [
    ...(pageFrom === undefined ? [] : [`c.page >= ${parameter(pageFrom)}::integer`]),
    ...(pageTo === undefined ? [] : [`c.page <= ${parameter(pageTo)}::integer`]),
  ];
  return conditions.length === 0 ? undefined : conditions.join(" and ");
}

function likeOf(glob: string): string {
  return plainText(glob)
    .replaceAll(/[\\%_]/g, String.raw`\$&`)
    .replaceAll("*", "%");
}
