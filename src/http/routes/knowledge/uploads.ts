import { Readable } from "node:stream";
import { z } from "zod";
import { uploadSchema, type UploadView } from "../../../protocol/threads/uploads.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import type { Upload } from "../../../store/knowledge/uploads.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { formFiles } from "../../requests/form-parts.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { idParams, listOf, pageQuery } from "../../shapes/schemas.ts";
import { fileAnswers } from "../../files/send-file.ts";
import { sendUpload } from "../../requests/send-upload.ts";

export const uploadFiles = endpoint({
  needs: "files:write",
  tag: "files",
  summary: "Upload files",
  description:
    "`multipart/form-data`; each part with a file name is a file. Answers when they have been read; then messages may bring " +
    "them (`files` of a message, by their ids). 413: one is too large (`uploads.fileMb`), or all of yours are (`uploads.userMb`); then none is kept.",
  takesBody: "form",
  answers: { 201: listOf(uploadSchema) },
  async handle({ caller, request, reply, services: { uploads } }) {
    const files: Upload[] = [];
    try {
      for await (const { filename, bytes } of formFiles(request))
        files.push(await uploads.receive(caller, { name: filename, bytes }));
    } catch (error) {
      // All or none: whoever sends the form again must not have its first files twice.
      for (const { id } of files) await uploads.remove(caller, id);
      throw error;
    }
    if (files.length === 0) throw new InvalidInput("The form has no file.", { code: "no_file" });
    reply.code(201);
    return { data: files.map((file) => view(file)) };
  },
});

export const beginUpload = endpoint({
  needs: "files:write",
  tag: "files",
  summary: "Begin a file that is uploaded in pieces",
  description:
    "For large ones. `PATCH /api/uploads/{id}` brings the pieces, and goes on where a broken connection left off.",
  body: z.strictObject({ name: z.string().min(1).max(500), bytes: z.int().positive() }),
  answers: { 201: uploadSchema },
  async handle({ body, caller, reply, services: { uploads } }) {
    reply.code(201);
    return view(await uploads.begin(caller, body), 0);
  },
});

export const continueUpload = endpoint({
  needs: "files:write",
  tag: "files",
  summary: "Bring the next piece of a file",
  description:
    "The body is the piece; the header `upload-offset` says how much of the file comes before it. 409 `wrong_offset`: another " +
    "amount is here, see `offset`. With the last piece the file is read.",
  params: idParams,
  takesBody: "any",
  answers: { 200: uploadSchema },
  async handle({ params, body, caller, request, services: { uploads } }) {
    const offset = /^\d{1,15}$/.exec(String(request.headers["upload-offset"] ?? ""))?.[0];
    if (offset === undefined)
      throw new InvalidInput("Send the header upload-offset with the number of bytes uploaded before.", {
        param: "upload-offset",
      });
    const bytes = body instanceof Readable ? body : Readable.from([]);
    return shown(uploads, await uploads.append(caller, params.id, { offset: Number(offset), bytes }));
  },
});

export const putUpload = endpoint({
  needs: "files:write",
  tag: "files",
  summary: "Bring a file that was begun, in one piece",
  description: "Restarts the upload; discards what has arrived so far.",
  params: idParams,
  takesBody: "any",
  answers: { 200: uploadSchema },
  async handle({ params, body, caller, services: { uploads } }) {
    const bytes = body instanceof Readable ? body : Readable.from([]);
    const upload = await uploads.append(caller, params.id, { offset: "start", bytes });
    if (upload.state !== "receiving") return view(upload);
    const have = await uploads.offsetOf(upload);
    throw new InvalidInput(`Received ${have} bytes, but ${upload.bytes} were announced.`, { code: "file_incomplete" });
  },
});

export const listUploads = endpoint({
  needs: "files:read",
  tag: "files",
  summary: "List your uploads, newest first",
  query: z.object({ before: idSchema.optional().describe("The last id of the page before"), ...pageQuery }),
  answers: { 200: listOf(uploadSchema) },
  async handle({ query: { before, limit = 50 }, caller, services: { uploads } }) {
    const page = { limit, ...(before !== undefined && { before }) };
    return { data: (await uploads.list(caller, page)).map((upload) => view(upload)) };
  },
});

export const getUpload = endpoint({
  needs: "files:read",
  tag: "files",
  summary: "Get an upload",
  params: idParams,
  answers: { 200: uploadSchema },
  async handle({ params, caller, services: { uploads } }) {
    return shown(uploads, await uploads.get(caller, params.id));
  },
});

export const downloadUpload = endpoint({
  needs: "files:read",
  tag: "files",
  summary: "Download an upload",
  params: idParams,
  answers: fileAnswers,
  async handle({ params, caller, services: { uploads }, ...call }) {
    return sendUpload(call, await uploads.get(caller, params.id), uploads);
  },
});

export const deleteUpload = endpoint({
  needs: "files:write",
  tag: "files",
  summary: "Delete an upload",
  description: "Its description in messages stays; copies in workspaces stay until their threads are deleted.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services: { uploads } }) {
    await uploads.remove(caller, params.id);
    reply.code(204);
  },
});

async function shown(uploads: EndpointCall["services"]["uploads"], upload: Upload): Promise<UploadView> {
  return view(upload, upload.state === "receiving" ? await uploads.offsetOf(upload) : undefined);
}

function view(upload: Upload, offset?: number): UploadView {
  const { id, name, bytes, state, kind, mediaType, metadata, problem, createdAt } = upload;
  return {
    id,
    name,
    bytes,
    state,
    ...(offset !== undefined && { offset }),
    mediaType,
    kind,
    metadata,
    problem,
    createdAt: createdAt.toISOString(),
  };
}
