import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { Upload } from "../../store/knowledge/uploads.ts";
import { endpoint } from "../server/endpoint.ts";
import { formFiles } from "../requests/form-parts.ts";
import { idSchema } from "../../protocol/base/shapes.ts";
import { idParams } from "../shapes/schemas.ts";
import { fileAnswers } from "../files/send-file.ts";
import { sendUpload } from "../requests/send-upload.ts";

const fileSchema = z.object({
  id: idSchema,
  object: z.literal("file"),
  bytes: z.int(),
  created_at: z.int(),
  filename: z.string(),
  purpose: z.string(),
  status: z.enum(["uploaded", "processed", "error"]),
  status_details: z.string().optional(),
});

export const createFile = endpoint({
  needs: "files:write",
  tag: "OpenAI",
  summary: "Upload a file",
  description: 'A form with the part `file`. A message brings it as a content part `{type: "file", file: {file_id}}`.',
  takesBody: "form",
  answers: { 200: fileSchema },
  async handle({ caller, request, services: { uploads } }) {
    let upload: Upload | undefined;
    for await (const { fieldname, filename, bytes } of formFiles(request)) {
      if (fieldname !== "file") continue;
      if (upload) {
        await uploads.remove(caller, upload.id);
        throw new InvalidInput("The form has more than one part named file.", { param: "file" });
      }
      upload = await uploads.receive(caller, { name: filename, bytes });
    }
    if (!upload) throw new InvalidInput("The form has no part named file.", { param: "file" });
    return view(upload);
  },
});

export const listFiles = endpoint({
  needs: "files:read",
  tag: "OpenAI",
  summary: "List your files, newest first",
  query: z.object({
    after: idSchema.optional(),
    limit: z.coerce.number().int().min(1).max(10_000).default(100),
    order: z.enum(["asc", "desc"]).optional(),
    purpose: z.string().optional(),
  }),
  answers: { 200: z.object({ object: z.literal("list"), data: z.array(fileSchema), has_more: z.boolean() }) },
  async handle({ query: { after, limit }, caller, services: { uploads } }) {
    const found = await uploads.list(caller, { limit: limit + 1, ...(after !== undefined && { before: after }) });
    return { object: "list", data: found.slice(0, limit).map(view), has_more: found.length > limit };
  },
});

export const getFile = endpoint({
  needs: "files:read",
  tag: "OpenAI",
  summary: "Get a file",
  params: idParams,
  answers: { 200: fileSchema },
  handle: async ({ params, caller, services: { uploads } }) => view(await uploads.get(caller, params.id)),
});

export const getFileContent = endpoint({
  needs: "files:read",
  tag: "OpenAI",
  summary: "Download a file",
  params: idParams,
  answers: fileAnswers,
  async handle({ params, caller, services: { uploads }, ...call }) {
    return sendUpload(call, await uploads.get(caller, params.id), uploads);
  },
});

export const deleteFile = endpoint({
  needs: "files:write",
  tag: "OpenAI",
  summary: "Delete a file",
  params: idParams,
  answers: { 200: z.object({ id: idSchema, object: z.literal("file"), deleted: z.literal(true) }) },
  async handle({ params, caller, services: { uploads } }) {
    await uploads.remove(caller, params.id);
    return { id: params.id, object: "file", deleted: true };
  },
});

function view({ id, bytes, createdAt, name, state, problem }: Upload): z.infer<typeof fileSchema> {
  return {
    id,
    object: "file",
    bytes,
    created_at: Math.floor(createdAt.getTime() / 1000),
    filename: name,
    purpose: "user_data",
    status: problem !== null ? "error" : state === "ready" ? "processed" : "uploaded",
    ...(problem !== null && { status_details: problem }),
  };
}
