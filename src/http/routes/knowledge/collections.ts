import { z } from "zod";
import { collectionSchema, choicesSchema, type KnowledgeChoices } from "../../../protocol/knowledge/collections.ts";
import { collectionSettingsSchema } from "../../../protocol/knowledge/chunks.ts";
import { endpoint } from "../../server/endpoint.ts";
import { collectionView } from "../../shapes/knowledge-views.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

const name = z.string().trim().min(1).max(100);
const description = z.string().max(2000);
const embeddingModel = z
  .string()
  .max(500)
  .regex(/^(none|(http|onnx|gguf):.+)$/, "must be none, http:<model>, onnx:<folder> or gguf:<file>");
const settings = collectionSettingsSchema.partial();

export const createCollection = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Make a collection of documents",
  description:
    "What its settings leave out is as `rag` is configured. Which embedding models there are beside the configured one, " +
    "`rag.embeddingModels` says; administrators may choose any.",
  body: z.strictObject({
    name,
    description: description.optional().describe("Description, shown to agents"),
    embeddingModel: embeddingModel.optional(),
    settings: settings.optional(),
  }),
  answers: { 201: collectionSchema },
  async handle({ body, caller, reply, services: { knowledge } }) {
    const created = await knowledge.collections.create(caller, body);
    reply.code(201);
    return collectionView(created, caller.userId);
  },
});

export const readChoices = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "List the options for new collections",
  description:
    "What it is made with where nothing is said, and which embedding models, languages and rerankers you may choose.",
  answers: { 200: choicesSchema },
  async handle({ caller, services: { knowledge, retrieval } }): Promise<KnowledgeChoices> {
    const { others, ...choices } = await knowledge.collections.choices(caller);
    const { names, standard } = retrieval.rerankers;
    const { documentBytes } = knowledge;
    return { ...choices, otherModels: others, rerankers: names, reranker: standard ?? null, documentBytes };
  },
});

export const listCollections = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "List the collections that you may search, your own first",
  answers: { 200: listOf(collectionSchema) },
  async handle({ caller, services: { knowledge } }) {
    return { data: (await knowledge.collections.list(caller)).map((each) => collectionView(each, caller.userId)) };
  },
});

export const getCollection = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Get a collection",
  params: idParams,
  answers: { 200: collectionSchema },
  async handle({ params, caller, services: { knowledge } }) {
    return collectionView(await knowledge.collections.get(caller, params.id), caller.userId);
  },
});

export const changeCollection = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Change a collection, or whom it is shared with",
  description:
    "Settings that are left out stay. `sharedWith` is the whole list: `everyone`, `user:<name>`, `group:<name>`; they may " +
    "search and read it. 409 `reindex_needed`: how its documents are cut changes by a reindex.",
  params: idParams,
  body: z.strictObject({
    name: name.optional(),
    description: description.optional(),
    settings: settings.optional(),
    sharedWith: z.array(z.string().min(1).max(200)).max(100).optional(),
  }),
  answers: { 200: collectionSchema },
  async handle({ params, body, caller, services: { knowledge } }) {
    return collectionView(await knowledge.collections.change(caller, params.id, body), caller.userId);
  },
});

export const reindexCollection = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Reindex a collection, with another model or other settings",
  description:
    "Each in its turn; until then it is searched as it is, by words. Vectors of another model are not searched any more.",
  params: idParams,
  body: z.strictObject({ embeddingModel: embeddingModel.optional(), settings: settings.optional() }).optional(),
  answers: { 202: collectionSchema },
  async handle({ params, body, caller, reply, services: { knowledge } }) {
    const collection = await knowledge.collections.reindex(caller, params.id, body ?? {});
    reply.code(202);
    return collectionView(collection, caller.userId);
  },
});

export const deleteCollection = endpoint({
  needs: "knowledge:delete",
  tag: "knowledge",
  summary: "Delete a collection with all that is in it",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services: { knowledge } }) {
    await knowledge.collections.remove(caller, params.id);
    reply.code(204);
  },
});
