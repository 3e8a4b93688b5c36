import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { z } from "zod";
import type { Added } from "../../knowledge/documents.ts";
import { InvalidInput, NotFound } from "../../protocol/errors.ts";
import { documentStatuses } from "../../protocol/knowledge.ts";
import { openFileOf } from "../../sandbox/open-file.ts";
import { addBody, addDocumentsFrom } from "../add-documents.ts";
import { endpoint } from "../endpoint.ts";
import { addedSchema, addedView, documentSchema, documentView } from "../rag-views.ts";
import { idParams, idSchema, listOf, pageQuery } from "../schemas.ts";
import { sendFile } from "../send-file.ts";

const octets = { description: "The original", content: { "application/octet-stream": { schema: z.string() } } };
const mostTextSlice = 1_000_000;

export const addDocuments = endpoint({
  tag: "knowledge",
  summary: "Add documents to a collection",
  description:
    "A text, addresses of the web, uploads of yours, a folder of the server's machine, or files of a session. They are read one " +
    "after the other: `status` says how far. The same name again replaces a document as soon as the new content is read.",
  params: idParams,
  body: addBody,
  answers: {
    202: z.object({
      data: z.array(addedSchema),
      problems: z
        .array(z.object({ name: z.string(), message: z.string() }))
        .readonly()
        .describe("What could not be added, and why; the rest was"),
      removed: z.int().optional().describe("Documents of the folder whose files are gone"),
    }),
  },
  async handle({ params, body, caller, reply, services }) {
    const { added, ...rest } = await addDocumentsFrom({ caller, collectionId: params.id, services }, body);
    reply.code(202);
    return { data: added.map(addedView), ...rest };
  },
});

export const addDocumentFiles = endpoint({
  tag: "knowledge",
  summary: "Add files to a collection by a form",
  description: "`multipart/form-data`; each part with a file name is a document of that name.",
  params: idParams,
  takesBody: "form",
  answers: { 202: listOf(addedSchema) },
  async handle({ params, caller, request, reply, services: { knowledge } }) {
    const added: Added[] = [];
    for await (const part of request.files()) {
      const file = { name: part.filename, source: { kind: "file" }, bytes: part.file } as const;
      added.push(await knowledge.documents.add(caller, params.id, file));
    }
    if (added.length === 0) throw new InvalidInput("The form has no file.", { code: "no_file" });
    reply.code(202);
    return { data: added.map(addedView) };
  },
});

export const putDocument = endpoint({
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

export const listDocuments = endpoint({
  tag: "knowledge",
  summary: "List the documents of a collection by name",
  params: idParams,
  query: z.object({
    status: z.enum(documentStatuses).optional(),
    after: z.string().max(500).optional().describe("The last name of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(documentSchema) },
  async handle({ params, query: { limit = 100, ...page }, caller, services: { knowledge } }) {
    return { data: (await knowledge.documents.list(caller, params.id, { ...page, limit })).map(documentView) };
  },
});

export const getDocument = endpoint({
  tag: "knowledge",
  summary: "Get a document",
  params: idParams,
  answers: { 200: documentSchema },
  async handle({ params, caller, services: { knowledge } }) {
    return documentView(await knowledge.documents.get(caller, params.id));
  },
});

export const downloadDocument = endpoint({
  tag: "knowledge",
  summary: "Download the original of a document",
  params: idParams,
  answers: { 200: octets, 206: octets },
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
  tag: "knowledge",
  summary: "Get the text of a document",
  description: "What was read out of it: passages and citations are slices of it, by `charStart` and `charEnd`.",
  params: idParams,
  query: z.object({
    from: z.coerce.number().int().min(0).default(0),
    to: z.coerce.number().int().min(0).optional().describe(`At most ${mostTextSlice} characters behind \`from\``),
  }),
  answers: {
    200: z.object({ documentId: idSchema, from: z.int(), to: z.int(), characters: z.int(), text: z.string() }),
  },
  async handle({ params, query: { from, to = Infinity }, caller, services: { knowledge } }) {
    const whole = await knowledge.documents.text(caller, params.id);
    const start = Math.min(from, whole.length);
    const end = Math.max(start, Math.min(to, whole.length, start + mostTextSlice));
    const text = whole.slice(start, end);
    return { documentId: params.id, from: start, to: end, characters: whole.length, text };
  },
});

export const retryDocument = endpoint({
  tag: "knowledge",
  summary: "Read a document anew",
  params: idParams,
  answers: { 202: documentSchema },
  async handle({ params, caller, reply, services: { knowledge } }) {
    const document = await knowledge.documents.retry(caller, params.id);
    reply.code(202);
    return documentView(document);
  },
});

export const deleteDocument = endpoint({
  tag: "knowledge",
  summary: "Delete a document, its original and all that was made of it",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services: { knowledge } }) {
    await knowledge.documents.remove(caller, params.id);
    reply.code(204);
  },
});
