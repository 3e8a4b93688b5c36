import type { CollectionCounts, CollectionView, KnowledgeChoices } from "../../protocol/knowledge/collections.ts";
import { type Caller, mayUse } from "../../protocol/base/callers.ts";
import { Conflict, AccessDenied, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { type CollectionSettings, collectionSettingsSchema } from "../../protocol/knowledge/chunks.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { removeChunks, removeCollectionChunks } from "../../store/knowledge/chunks.ts";
import {
  changeCollection,
  type Collection,
  countDocuments,
  createCollection,
  deleteCollection,
  findOwnCollection,
  getCollection,
  hideCollection,
  listCollections,
  removedCollections,
} from "../../store/knowledge/collections.ts";
import { deleteDocument, listDocumentIds, requeueCollection } from "../../store/knowledge/documents.ts";
import { createIndexStates, indexingPercent, indexStatesOf } from "../../store/knowledge/index-state.ts";
import { dropOrphans } from "../../store/knowledge/indexes.ts";
import { textConfigs } from "../../store/knowledge/lexical.ts";
import type { DocumentFiles } from "./document-files.ts";
import type { Embedders } from "../embedding/embedders.ts";
import type { EmbeddingModels } from "../embedding/embedding-models.ts";

export type CountedCollection = Collection & Pick<CollectionView, "counts" | "indexing">;

export type NewCollection = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly embeddingModel?: string | undefined;
  readonly settings?: Partial<CollectionSettings> | undefined;
};

export type CollectionEdit = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly settings?: Partial<CollectionSettings> | undefined;
  /** `everyone`, `user:<name>`, `group:<name>`. */
  readonly sharedWith?: readonly string[] | undefined;
};

export type Reindex = {
  readonly embeddingModel?: string | undefined;
  readonly settings?: Partial<CollectionSettings> | undefined;
};

/** Choices for a new collection. */
export type CollectionChoices = Pick<KnowledgeChoices, "defaults" | "embeddingModels" | "languages"> & {
  /** Which others the caller may choose: names or globs. */
  readonly others: readonly string[];
};

/** Collections of documents. Each verb throws NotFound for what the caller may not read, AccessDenied for what is only the owner's. */
export type Collections = {
  create(caller: Caller, collection: NewCollection): Promise<CountedCollection>;
  /** Returns the caller's choices for a new collection. */
  choices(caller: Caller): Promise<CollectionChoices>;
  /** Own ones, then those shared with the caller or a group, then those of everyone. */
  list(caller: Caller): Promise<readonly CountedCollection[]>;
  get(caller: Caller, id: string): Promise<CountedCollection>;
  /** Finds a collection by ID or name: the caller's own, else the only one of that name that is shared with them. */
  find(caller: Caller, idOrName: string): Promise<Collection>;
  /** Throws Conflict `reindex_needed` for what changes how documents are cut. */
  change(caller: Caller, id: string, edit: CollectionEdit): Promise<CountedCollection>;
  /** All of its documents are read anew, in their turn; meanwhile they are searched as they are. */
  reindex(caller: Caller, id: string, change: Reindex): Promise<CountedCollection>;
  /** With all that is in it. */
  remove(caller: Caller, id: string): Promise<void>;
  /** Goes on with removals that a process did not finish. */
  finishRemovals(): Promise<void>;
  /** Throws as above. */
  own(caller: Caller, id: string): Promise<Collection>;
};

export type CollectionsOptions = {
  readonly database: Database;
  readonly files: DocumentFiles;
  readonly embedders: Embedders;
  readonly defaults: CollectionSettings & { readonly embeddingModel: string };
  readonly embeddingModels: EmbeddingModels;
  /** Names or globs of those that everybody may choose beside the default one. */
  readonly models: readonly string[];
  /** There is something in the queue. */
  readonly onQueued: () => void;
  /** A collection's indexes may have to be others now. */
  readonly onSettings: (collectionId: string) => void;
};

const maxCollections = 500;
const maxShares = 100;
const noCounts: CollectionCounts = { queued: 0, working: 0, ready: 0, failed: 0, documents: 0, chunks: 0, bytes: 0 };

export function createCollections(options: CollectionsOptions): Collections {
  const { database, files, embedders, defaults, embeddingModels, models, onQueued, onSettings } = options;
  const { query } = database;

  const states = createIndexStates();
  const counted = async (all: readonly Collection[]): Promise<readonly CountedCollection[]> => {
    const ids = all.map(({ id }) => id);
    const counts = await countDocuments(query, ids);
    const worded = all.map(({ id, settings }) => ({ id, textConfig: settings.language }));
    const unfinished = await indexStatesOf(query, worded, states);
    return all.map((collection) => {
      const state = unfinished.get(collection.id);
      return {
        ...collection,
        counts: counts.get(collection.id) ?? noCounts,
        ...(state && { indexing: indexingPercent(state) }),
      };
    });
  };

  async function readable(caller: Caller, id: string): Promise<Collection> {
    const collection = await getCollection(query, caller.userId, id);
    if (!mayUseCollection(caller, collection)) throw noCollection(id);
    return collection;
  }

  async function own(caller: Caller, id: string): Promise<Collection> {
    const collection = await readable(caller, id);
    if (collection.userId !== caller.userId)
      throw new AccessDenied(403, `Only its owner, ${collection.owner}, may change the collection ${collection.name}.`);
    return collection;
  }

  /** Known to work before anything waits for it. */
  async function checkedModel(caller: Caller, model: string): Promise<void> {
    embeddingModels.check(caller, model);
    if (model !== "none") await embedders.get(model, AbortSignal.timeout(120_000));
  }

  async function removeAll(id: string): Promise<void> {
    // A document at a time: each of these transactions is short, however much there is.
    for (let ids; (ids = await listDocumentIds(query, id)).length > 0;)
      for (const document of ids)
        await database.transaction(async (inside) => {
          await removeChunks(inside, document);
          await deleteDocument(inside, document);
        });
    await database.transaction(async (inside) => {
      await removeCollectionChunks(inside, id);
      await deleteCollection(inside, id);
    });
    await files.removeCollection(id);
    await dropOrphans(database);
  }

  const collections: Collections = {
    async create(caller, { name, description = "", embeddingModel = defaults.embeddingModel, settings = {} }) {
      const { embeddingModel: _model, ...standard } = defaults;
      const all = checkedSettings({ ...standard, ...settings });
      if (!mayUseCollection(caller, { name }))
        throw new AccessDenied(403, `You don't have access to a collection named ${name}.`);
      embeddingModels.check(caller, embeddingModel);
      // Collections that others share are not this person's.
      const own = (await listCollections(query, caller.userId)).filter(({ userId }) => userId === caller.userId);
      if (own.length >= maxCollections)
        throw new Conflict(`You have reached the limit of ${maxCollections} collections.`, {
          code: "too_many_collections",
        });
      const collection = { userId: caller.userId, name, description, settings: all, embeddingModel };
      return collections.get(caller, await createCollection(query, collection));
    },
    async choices(caller) {
      const languages = await textConfigs(query);
      return {
        defaults,
        embeddingModels: ["none", ...(await embeddingModels.list(caller))],
        others: caller.role === "admin" ? ["*"] : models.filter((model) => model.includes("*")),
        languages,
      };
    },
    async list(caller) {
      const all = (await listCollections(query, caller.userId)).filter((each) => mayUseCollection(caller, each));
      return counted(all);
    },
    async get(caller, id) {
      const [collection] = await counted([await readable(caller, id)]);
      return collection!;
    },
    async find(caller, idOrName) {
      const found = await findOwnCollection(query, caller.userId, idOrName);
      if (found && mayUseCollection(caller, found)) return found;
      const others = (await listCollections(query, caller.userId)).filter(
        (each) => each.name === idOrName && mayUseCollection(caller, each),
      );
      if (others.length > 1)
        throw new Conflict(
          `${others.length} collections are named ${idOrName}; say the id of one: ${others.map(({ id, owner }) => `${id} (of ${owner})`).join(", ")}.`,
          { code: "collection_ambiguous" },
        );
      return others[0] ?? readable(caller, idOrName);
    },
    async change(caller, id, { name, description, settings, sharedWith }) {
      const collection = await own(caller, id);
      const next = settings && checkedSettings({ ...collection.settings, ...settings });
      const isEmpty = !(await countDocuments(query, [id])).has(id);
      if (next && !isEmpty && cutsOtherwise(collection.settings, next))
        throw new Conflict(
          `The chunk size and the language of a collection with documents change by a reindex: POST /api/rag/collections/${id}/reindex.`,
          { code: "reindex_needed" },
        );
      if (name !== undefined && !mayUseCollection(caller, { name }))
        throw new AccessDenied(403, `You don't have access to a collection named ${name}.`);
      const shares = sharedWith && (await knownShares(query, sharedWith));
      await changeCollection(query, id, { name, description, settings: next, sharedWith: shares });
      if (next) onSettings(id);
      return collections.get(caller, id);
    },
    async reindex(caller, id, { embeddingModel, settings }) {
      const collection = await own(caller, id);
      const next = settings && checkedSettings({ ...collection.settings, ...settings });
      await checkedModel(caller, embeddingModel ?? collection.embeddingModel);
      await database.transaction(async (inside) => {
        await changeCollection(inside, id, { embeddingModel, settings: next, dimension: null });
        await requeueCollection(inside, id);
      });
      onQueued();
      onSettings(id);
      return collections.get(caller, id);
    },
    async remove(caller, id) {
      await own(caller, id);
      await hideCollection(query, id);
      await removeAll(id);
    },
    async finishRemovals() {
      for (const id of await removedCollections(query)) await removeAll(id);
    },
    own,
  };
  return collections;
}

/** Who is granted some collections, or whose key is cut to some, may use no others, those of the account included. */
function mayUseCollection(caller: Caller, { name }: Pick<Collection, "name">): boolean {
  return mayUse(caller, "collection", name);
}

function checkedSettings(settings: Partial<CollectionSettings>): CollectionSettings {
  const parsed = collectionSettingsSchema.safeParse(settings);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new InvalidInput(`settings.${issue!.path.join(".")}: ${issue!.message}`, {
      param: `settings.${issue!.path.join(".")}`,
    });
  }
  const { chunkSize, chunkOverlap } = parsed.data;
  if (chunkOverlap * 2 > chunkSize)
    throw new InvalidInput("settings.chunkOverlap must be at most half of chunkSize.", {
      param: "settings.chunkOverlap",
    });
  return parsed.data;
}

function cutsOtherwise(before: CollectionSettings, now: CollectionSettings): boolean {
  return (
    before.chunkSize !== now.chunkSize || before.chunkOverlap !== now.chunkOverlap || before.language !== now.language
  );
}

/** As they are kept. Whoever is named must be there, or a slip would share with whoever takes the name later. */
async function knownShares(query: Query, sharedWith: readonly string[]): Promise<readonly string[]> {
  if (sharedWith.length > maxShares) throw new InvalidInput(`A collection is shared with ${maxShares} at most.`);
  const kept: string[] = [];
  for (const who of sharedWith) {
    const [, kind, name] = /^(user|group):(.+)$/.exec(who) ?? [];
    if (who !== "everyone" && kind === undefined)
      throw new InvalidInput(`"${who}" is not valid: use everyone, user:<name> or group:<name>.`, {
        param: "sharedWith",
      });
    const table =
      kind === "user" ? "select 'user:' || id as who from users" : "select 'group:' || name as who from groups";
    const rows = who === "everyone" ? [{ who }] : await query<{ who: string }>(`${table} where name = $1`, [name]);
    if (rows.length === 0)
      throw new InvalidInput(`${kind === "user" ? "User" : "Group"} ${name} not found.`, { param: "sharedWith" });
    kept.push(rows[0]!.who);
  }
  return [...new Set(kept)];
}

function noCollection(id: string): NotFound {
  return new NotFound(`Collection ${id} not found.`, { code: "collection_not_found" });
}
