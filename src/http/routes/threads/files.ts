import { basename } from "node:path";
import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Caller } from "../../../protocol/base/callers.ts";
import { InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import {
  type FileChange,
  mediaTypeOf,
  type UploadedFile,
  uploadedFileSchema,
  fileSchema,
  type FileView,
} from "../../../protocol/threads/files.ts";
import { noFile } from "../../../sandbox/workspace/file-errors.ts";
import type { FolderEntry } from "../../../sandbox/workspace/walk.ts";
import { parsePath } from "../../../sandbox/workspace/path.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { formFiles } from "../../requests/form-parts.ts";
import { baseOf } from "../../server/origins.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { fileAnswers, sendFile } from "../../files/send-file.ts";
import { sessionNameOf } from "../../requests/run-headers.ts";

const maxListed = 2000;

const path = z.string().min(1).describe("Relative to the workspace; may hold /");

/** Which thread is meant: the one that the path names, or that of a session. */
type ThreadParams = { readonly id?: string | undefined };
type FileCall = Pick<EndpointCall<ThreadParams>, "params" | "caller" | "request" | "services">;

export const threadFiles = fileRoutes(z.object({ id: idSchema }), z.object({ id: idSchema, path }), {
  where: "a thread",
  isOpen: hasSignature,
});
/** Named by the header `x-session-id`. */
export const sessionFiles = fileRoutes(z.object({}), z.object({ path }), {
  where: "the session that x-session-id names",
});
/** For whoever is in the room. */
export const roomFiles = fileRoutes(z.object({ id: idSchema }), z.object({ id: idSchema, path }), {
  where: "a room",
  as: ({ params, caller, services }) => services.rooms.ownerOf(caller, params.id ?? ""),
});

type FileRouteOptions = {
  readonly where: string;
  readonly isOpen?: (request: FastifyRequest) => boolean;
  /** In whose name the thread is found; the caller's when absent. */
  readonly as?: (call: FileCall) => Promise<Caller>;
};

function fileRoutes(
  params: z.ZodType<ThreadParams>,
  pathParams: z.ZodType<ThreadParams & { readonly path: string }>,
  { where, isOpen, as }: FileRouteOptions,
) {
  const inName = async <One extends FileCall>(call: One): Promise<One> =>
    as ? { ...call, caller: await as(call) } : call;
  return {
    list: endpoint({
      needs: ["threads:read", "own"],
      tag: "files",
      summary: `List the files of ${where}`,
      params,
      query: z.object({
        under: z.string().optional().describe("A folder; absent: the whole workspace"),
        depth: z.coerce.number().int().min(1).max(64).optional().describe("Levels of folders; absent: all"),
      }),
      answers: {
        200: z.object({ data: z.array(fileSchema), more: z.boolean().describe(`There are more than ${maxListed}`) }),
      },
      async handle({ query: { under = "", depth }, ...call }) {
        const threadId = await threadOf(await inName(call));
        const workspace = await call.services.workspaces.find(threadId);
        if (!workspace) return { data: [], more: false };
        const options = { under, most: maxListed, ...(depth !== undefined && { depth }) };
        const { entries, more } = await workspace.list(options);
        return { data: entries.map((entry) => viewOf(call, threadId, entry)), more };
      },
    }),

    download: endpoint({
      needs: ["threads:read", "own"],
      tag: "files",
      summary: `Download a file of ${where}`,
      description:
        "PNG, JPEG, GIF and WebP are shown by browsers, everything else is saved. Takes `Range` and `If-None-Match`.",
      params: pathParams,
      query: z.object({ until: z.coerce.number().optional(), signature: z.string().max(100).optional() }),
      ...(isOpen && { open: isOpen }),
      answers: fileAnswers,
      async handle({ params, query, ...call }) {
        const isLink = isOpen?.(call.request) ?? false;
        const threadId = isLink ? (params.id ?? "") : await threadOf(await inName({ ...call, params }));
        if (isLink && !call.services.fileLinks.allows(threadId, params.path, query)) throw noLink();
        const workspace = await call.services.workspaces.find(threadId);
        if (!workspace) throw noFile(params.path);
        return sendFile(call, await workspace.openFile(params.path), { path: params.path, isLink });
      },
    }),

    upload: endpoint({
      needs: "threads:write",
      tag: "files",
      summary: `Write a file of ${where}`,
      description:
        "The body is the file, of any type, at most what is free in the workspace (`sandbox.diskMb`). Folders on the way are " +
        "made. With `If-Match` it is only changed if it is still that one.",
      params: pathParams,
      takesBody: "any",
      answers: { 200: uploadedFileSchema, 201: uploadedFileSchema },
      async handle({ params, body, reply, ...call }) {
        const asked = await inName({ ...call, params });
        const threadId = await threadOf(asked, { make: true });
        const workspace = await call.services.workspaces.open(threadId);
        const ifVersion = /^"(.+)"$/.exec(call.request.headers["if-match"] ?? "")?.[1];
        const source = body instanceof Readable ? body : "";
        const change = await workspace.write(params.path, source, { ...(ifVersion !== undefined && { ifVersion }) });
        await keepsThread(asked, threadId);
        reply.code(change.change === "made" ? 201 : 200);
        return withUrl(call, threadId, change);
      },
    }),

    uploadForm: endpoint({
      needs: "threads:write",
      tag: "files",
      summary: `Upload files to ${where} by a form`,
      description:
        "`multipart/form-data`; each part with a file name becomes a file of that name, in the folder `under`.",
      params,
      query: z.object({ under: z.string().default("") }),
      takesBody: "form",
      answers: { 201: z.object({ data: z.array(uploadedFileSchema) }) },
      async handle({ query: { under }, reply, ...call }) {
        const asked = await inName(call);
        const threadId = await threadOf(asked, { make: true });
        const workspace = await call.services.workspaces.open(threadId);
        const folder = parsePath(under)
          .map((name) => `${name}/`)
          .join("");
        const changes: FileChange[] = [];
        for await (const { filename, bytes } of formFiles(call.request))
          changes.push(await workspace.write(folder + basename(filename.replaceAll("\\", "/")), bytes));
        if (changes.length === 0) throw new InvalidInput("The form has no file.", { code: "no_file" });
        await keepsThread(asked, threadId);
        reply.code(201);
        return { data: changes.map((change) => withUrl(call, threadId, change)) };
      },
    }),

    remove: endpoint({
      needs: "threads:write",
      tag: "files",
      summary: `Remove a file of ${where}, or a folder with all that is in it`,
      params: pathParams,
      answers: { 204: z.null() },
      async handle({ params, reply, ...call }) {
        const workspace = await call.services.workspaces.find(await threadOf(await inName({ ...call, params })));
        if (!workspace) throw noFile(params.path);
        await workspace.remove(params.path);
        reply.code(204);
      },
    }),
  };
}

/** The thread whose files are meant. `make`: a session that is new is begun. Throws NotFound for what is not the caller's. */
async function threadOf({ params, caller, request, services }: FileCall, { make = false } = {}): Promise<string> {
  const { threads } = services;
  if (params.id !== undefined) return threads.threadOfFiles(caller, params.id);
  const session = sessionNameOf(request);
  if (session === undefined) throw new InvalidInput("Name the session: x-session-id.", { param: "x-session-id" });
  const found = await threads.findThread(caller, session);
  if (found !== undefined) return threads.threadOfFiles(caller, found);
  if (make) return (await threads.createSession(caller, { id: session })).threadId;
  throw new NotFound(`Session ${JSON.stringify(session)} not found.`, { code: "thread_not_found" });
}

/** A thread that was deleted while files were written leaves none behind. */
async function keepsThread(
  { caller, services }: Pick<EndpointCall, "caller" | "services">,
  threadId: string,
): Promise<void> {
  try {
    await services.threads.noteFiles(caller, threadId);
  } catch (error) {
    if (error instanceof NotFound) await services.workspaces.remove(threadId);
    throw error;
  }
}

function hasSignature({ query }: FastifyRequest): boolean {
  return typeof query === "object" && query !== null && "signature" in query;
}

function noLink(): NotFound {
  return new NotFound("This link is not valid or has expired.", { code: "link_invalid" });
}

function viewOf(call: Pick<EndpointCall, "request" | "services">, threadId: string, entry: FolderEntry): FileView {
  const { path: place, kind, bytes, modified } = entry;
  const mediaType = kind === "file" ? mediaTypeOf(place) : undefined;
  return {
    path: place,
    kind,
    bytes,
    modified: modified.toISOString(),
    ...(mediaType !== undefined && { mediaType }),
    ...(kind === "file" && { url: urlOf(call, threadId, place) }),
  };
}

function withUrl(call: Pick<EndpointCall, "request" | "services">, threadId: string, change: FileChange): UploadedFile {
  return { ...change, url: urlOf(call, threadId, change.path) };
}

function urlOf(
  { request, services }: Pick<EndpointCall, "request" | "services">,
  threadId: string,
  place: string,
): string {
  return baseOf(request) + services.fileLinks.linkTo(threadId, place);
}
