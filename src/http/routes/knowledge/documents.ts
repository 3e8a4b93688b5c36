import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { z } from "zod";
import {
  addedSchema,
  documentSchema,
  type DocumentResultsView,
  allAddedSchema,
  chunkSchema,
  type TextPart,
  textPartSchema,
} from "../../../protocol/knowledge/documents.ts";
import type { DocumentResult } from "../../../knowledge/documents/documents.ts";
import { contentSchema } from "../../../knowledge/documents/exported-chunks.ts";
import { InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import { checkJsonBounds } from "../../../protocol/base/json-bounds.ts";
import { documentStatuses } from "../../../protocol/knowledge/chunks.ts";
import { openFileOf } from "../../../sandbox/workspace/open-file.ts";
import { addBody, addDocumentsFrom } from "../../requests/add-documents.ts";
import { endpoint } from "../../server/endpoint.ts";
import { type FormField, type FormFile, formFiles, formParts } from "../../requests/form-parts.ts";
import { addedView, documentView } from "../../shapes/knowledge-views.ts";
import { idParams, listOf, pageQuery } from "../../shapes/schemas.ts";
import { fileAnswers, sendFile } from "../../files/send-file.ts";

const maxTextSlice = 1_000_000;

export const addDocuments = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Add documents to a collection",
  description:
    "A text, addresses of the web, uploads of yours, a folder of the server's machine, or files of a session. They are read one " +
    "after the other: `status` says how far. The same name again replaces a document as soon as the new content is read.",
  params: idParams,
  takesLong: true,
  body: addBody,
  answers: { 202: allAddedSchema },
  async handle({ params, body, caller, reply, services }): Promise<DocumentResultsView> {
    const { added, ...rest } = await addDocumentsFrom({ caller, collectionId: params.id, services }, body);
    reply.code(202);
    return { data: added.map(addedView), ...rest };
  },
});

export const addDocumentFiles = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Add files to a collection by a form",
  description: "`multipart/form-data`; each part with a file name is a document of that name.",
  params: idParams,
  takesBody: "form",
  answers: { 202: listOf(addedSchema) },
  async handle({ params, caller, request, reply, services: { knowledge } }) {
    const added: DocumentResult[] = [];
    for await (const { filename, bytes } of formFiles(request)) {
      const file = { name: filename, source: { kind: "file" }, bytes } as const;
      added.push(await knowledge.documents.add(caller, params.id, file));
    }
    if (added.length === 0) throw new InvalidInput("The form has no file.", { code: "no_file" });
    reply.code(202);
    return { data: added.map(addedView) };
  },
});

export const putDocument = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Add a file to a collection, by its name",
  description: "The body is the file, of any type; the path is its name, which may hold /.",
  params: idParams.extend({ path: z.string().min(1).max(500) }),
  takesBody: "any",
  answers: { 202: addedSchema },
  async handle({ params, body, caller, reply, services: { knowledge } }) {
    const bytes = body instanceof Readable ? body : Readable.from([]);
    const file = { name: params.path, source: { kind: "file" }, bytes } as const;
    const added = await knowledge.documents.add(caller, params.id, file);
    reply.code(202);
    return addedView(added);
  },
});

const aboutSchema = contentSchema.extend({
  name: z.string().min(1).max(500),
  url: z.string().max(2000).optional(),
  made: z.object({ chunkSize: z.int(), chunkOverlap: z.int(), embeddingModel: z.string() }),
  dimension: z.int().min(1).max(16_000).optional(),
});

export const importDocument = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Add a document that was exported",
  description:
    "`multipart/form-data` with the field `about` (JSON: name, kind, mediaType, metadata, pages, made: {chunkSize, chunkOverlap, embeddingModel}, dimension, url), and behind it the " +
    "files `original`, `text` and `chunks` (`GET /api/rag/documents/{id}/chunks`), in this order. Neither read nor embedded " +
    "again, if the collection would do it in the same way.",
  params: idParams,
  takesBody: "form",
  answers: { 202: addedSchema },
  async handle({ params, caller, request, reply, services: { knowledge } }) {
    const parts = formParts(request);
    const about = aboutSchema.safeParse(jsonOf(await nextPart(parts, "about")));
    if (!about.success) throw new InvalidInput("The field about is not of the format.", { param: "about" });
    const { name, url, made, dimension, ...content } = about.data;
    // Each is read to its end before the next one comes.
    const file = (part: string) => lazily(async () => fileOf(await nextPart(parts, part), part));
    const added = await knowledge.documents.import(caller, params.id, {
      name,
      source: url === undefined ? { kind: "file" } : { kind: "url", url },
      bytes: file("original"),
      text: file("text"),
      chunks: file("chunks"),
      content,
      made,
      dimension,
    });
    reply.code(202);
    return addedView(added);
  },
});

type FormPart = FormField | FormFile;

async function nextPart(parts: AsyncIterator<FormPart, void>, name: string): Promise<FormPart> {
  const { value: part } = await parts.next();
  if (part?.fieldname !== name) throw new InvalidInput(`The part ${name} is missing.`, { param: name });
  return part;
}

function fileOf(part: FormPart, name: string): AsyncIterable<Uint8Array> {
  if (part.type !== "file") throw new InvalidInput(`${name} must be a file.`, { param: name });
  return part.bytes;
}

function jsonOf(part: FormPart): unknown {
  if (part.type !== "field" || typeof part.value !== "string") return undefined;
  checkJsonBounds(Buffer.from(part.value));
  try {
    return JSON.parse(part.value);
  } catch {
    return undefined;
  }
}

async function* lazily(open: () => Promise<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  yield* await open();
}

export const exportChunks = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Export the chunks of a document",
  description:
    "A line of JSON each, in order: `charStart`, `charEnd`, `page`, `headingPath`, and `embedding`, 32-bit floats in base64.",
  params: idParams,
  answers: {
    200: { description: "The chunks", content: { "application/x-ndjson": { schema: z.string() } } },
  },
  async handle({ params, caller, reply, services: { knowledge } }) {
    const lines = await knowledge.documents.exportChunks(caller, params.id);
    return reply.type("application/x-ndjson").send(Readable.from(lines));
  },
});

export const listChunks = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "List the chunks of a document with their text",
  description:
    "In order, those that are searched. Each is the slice of the document's text from `charStart` to `charEnd`.",
  params: idParams,
  query: z.object({
    after: z.coerce
      .number()
      .int()
      .min(-1)
      .max(2_000_000_000)
      .optional()
      .describe("The last ordinal of the page before"),
    at: z.coerce
      .number()
      .int()
      .min(0)
      .max(2_000_000_000)
      .optional()
      .describe("A place in the text: begin with the chunk that holds it"),
    ...pageQuery,
  }),
  answers: { 200: listOf(chunkSchema) },
  async handle({ params, query: { limit = 50, ...page }, caller, services: { knowledge } }) {
    return { data: await knowledge.documents.chunks(caller, params.id, { ...page, limit }) };
  },
});

export const listDocuments = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "List the documents of a collection by name",
  params: idParams,
  query: z.object({
    status: z.enum(documentStatuses).optional(),
    search: z.string().min(1).max(500).optional().describe("Some of the name, in any case"),
    after: z.string().max(500).optional().describe("The last name of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(documentSchema) },
  async handle({ params, query: { limit = 100, ...page }, caller, services: { knowledge } }) {
    return { data: (await knowledge.documents.list(caller, params.id, { ...page, limit })).map(documentView) };
  },
});

export const getDocument = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Get a document",
  params: idParams,
  answers: { 200: documentSchema },
  async handle({ params, caller, services: { knowledge } }) {
    return documentView(await knowledge.documents.get(caller, params.id));
  },
});

export const downloadDocument = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Download the original of a document",
  params: idParams,
  answers: fileAnswers,
  async handle({ params, caller, services: { knowledge }, ...call }) {
    const { document, place } = await knowledge.documents.original(caller, params.id);
    const handle = await open(place).catch((cause: unknown) => {
      throw new NotFound(`The original of ${document.name} is not here.`, { code: "file_not_found", cause });
    });
    const name = document.source.kind === "url" ? place.slice(place.lastIndexOf("/") + 10) : document.name;
    const file = openFileOf({ handle, stats: await handle.stat() }, name);
    return sendFile(call, file, { path: name, isLink: false });
  },
});

export const getDocumentText = endpoint({
  needs: "knowledge:read",
  tag: "knowledge",
  summary: "Get the text of a document",
  description: "The extracted text. Passages and citations are slices of it, by `charStart` and `charEnd`.",
  params: idParams,
  query: z.object({
    from: z.coerce.number().int().min(0).default(0),
    to: z.coerce.number().int().min(0).optional().describe(`At most ${maxTextSlice} characters behind \`from\``),
  }),
  answers: { 200: textPartSchema },
  async handle({ params, query: { from, to = Infinity }, caller, services: { knowledge } }): Promise<TextPart> {
    const whole = await knowledge.documents.text(caller, params.id);
    const start = Math.min(from, whole.length);
    const end = Math.max(start, Math.min(to, whole.length, start + maxTextSlice));
    const text = whole.slice(start, end);
    return { documentId: params.id, from: start, to: end, characters: whole.length, text };
  },
});

export const retryDocument = endpoint({
  needs: "knowledge:write",
  tag: "knowledge",
  summary: "Process a document again",
  params: idParams,
  answers: { 202: documentSchema },
  async handle({ params, caller, reply, services: { knowledge } }) {
    const document = await knowledge.documents.retry(caller, params.id);
    reply.code(202);
    return documentView(document);
  },
});

export const deleteDocument = endpoint({
  needs: "knowledge:delete",
  tag: "knowledge",
  summary: "Delete a document with its original and everything derived from it",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services: { knowledge } }) {
    await knowledge.documents.remove(caller, params.id);
    reply.code(204);
  },
});
