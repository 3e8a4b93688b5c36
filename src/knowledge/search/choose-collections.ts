import type { Caller } from "../../protocol/base/callers.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { RetrievalMode } from "../../protocol/knowledge/chunks.ts";
import type { Collection } from "../../store/knowledge/collections.ts";
import type { Collections } from "../documents/collections.ts";

const maxCollections = 20;

/** Those that are named, else all with documents that the caller may search; `notes`: what was left out. Throws NotFound. */
export async function chosenCollections(
  collections: Pick<Collections, "find" | "list">,
  caller: Caller,
  wanted: readonly string[] | undefined,
  notes: string[],
): Promise<readonly Collection[]> {
  if (wanted && wanted.length > 0) {
    if (wanted.length > maxCollections)
      throw new InvalidInput(`At most ${maxCollections} collections are searched at once.`, { param: "collections" });
    const found = new Map<string, Collection>();
    for (const each of wanted) {
      const collection = await collections.find(caller, each);
      found.set(collection.id, collection);
    }
    return [...found.values()];
  }
  const all = (await collections.list(caller)).filter(({ counts }) => counts.chunks > 0);
  if (all.length === 0) notes.push("No collection with searchable documents.");
  if (all.length > maxCollections)
    notes.push(`Only the first ${maxCollections} of ${all.length} collections were searched.`);
  return all.slice(0, maxCollections);
}

export type SearchGroup = {
  readonly retrieval: RetrievalMode;
  readonly weight: number;
  readonly members: readonly Collection[];
};

/** Those that are searched in the same way are searched together. */
export function groupsOf(
  collections: readonly Collection[],
  { retrieval, weight }: { readonly retrieval?: RetrievalMode | undefined; readonly weight?: number | undefined },
): readonly SearchGroup[] {
  const groups = new Map<string, { retrieval: RetrievalMode; weight: number; members: Collection[] }>();
  for (const collection of collections) {
    const { settings, embeddingModel } = collection;
    const hasVectors = embeddingModel !== "none";
    const wanted = retrieval ?? settings.retrieval ?? (hasVectors ? "hybrid" : "lexical");
    const group = { retrieval: hasVectors ? wanted : ("lexical" as const), weight: weight ?? settings.hybridWeight };
    const key = `${group.retrieval} ${group.retrieval === "hybrid" ? group.weight : ""}`;
    const members = groups.get(key)?.members ?? [];
    groups.set(key, { ...group, members: [...members, collection] });
  }
  return [...groups.values()];
}
