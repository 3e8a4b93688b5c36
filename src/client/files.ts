import type { UploadedFile, FileView } from "../protocol/threads/files.ts";
import { ask, askJson, encodedPath, queryOf, type ServerAccess } from "./request.ts";

export type FileList = { readonly data: readonly FileView[]; readonly more: boolean };

/** Client for the files of one workspace. */
export type WorkspaceFileClient = {
  /** Each folder before what is in it. */
  list(options?: { readonly under?: string; readonly depth?: number }, signal?: AbortSignal): Promise<FileList>;
  download(path: string, signal?: AbortSignal): Promise<Uint8Array>;
  upload(path: string, content: string | Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<UploadedFile>;
  /** Deletes a file, or a folder with everything in it. */
  remove(path: string, signal?: AbortSignal): Promise<void>;
};

/** The files of a thread. */
export type FileClient = {
  at(threadId: string): WorkspaceFileClient;
  list(threadId: string, options?: Parameters<WorkspaceFileClient["list"]>[0], signal?: AbortSignal): Promise<FileList>;
  download(file: FilePlace, signal?: AbortSignal): Promise<Uint8Array>;
  upload(file: FilePlace, content: string | Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<UploadedFile>;
  remove(file: FilePlace, signal?: AbortSignal): Promise<void>;
};

export type FilePlace = { readonly threadId: string; readonly path: string };

export function createFileClient(server: ServerAccess): FileClient {
  const at = (threadId: string) => createWorkspaceFileClient(server, `/api/threads/${threadId}/files`);
  return {
    at,
    list: (threadId, options, signal) => at(threadId).list(options, signal),
    download: ({ threadId, path }, signal) => at(threadId).download(path, signal),
    upload: ({ threadId, path }, content, signal) => at(threadId).upload(path, content, signal),
    remove: ({ threadId, path }, signal) => at(threadId).remove(path, signal),
  };
}

/** Creates the client of one workspace; `root` is the route that lists its files. */
export function createWorkspaceFileClient(server: ServerAccess, root: string): WorkspaceFileClient {
  const placeOf = (path: string) => `${root}/${encodedPath(path)}`;
  return {
    list: (options = {}, signal) => askJson(server, root + queryOf(options), { signal }),
    download: async (path, signal) => (await ask(server, placeOf(path), { signal })).bytes(),
    upload: (path, bytes, signal) => askJson(server, placeOf(path), { method: "PUT", bytes, signal }),
    async remove(path, signal) {
      await ask(server, placeOf(path), { method: "DELETE", signal });
    },
  };
}

/** Reads the beginning of a text file at a path of the server. */
export async function beginningOf(
  server: ServerAccess,
  { path, bytes, signal }: { readonly path: string; readonly bytes: number; readonly signal?: AbortSignal },
): Promise<string> {
  const answer = await ask(server, path, { headers: { range: `bytes=0-${bytes - 1}` }, signal });
  // Of a character that goes on behind the end nothing is shown.
  return new TextDecoder().decode(await answer.arrayBuffer(), { stream: true });
}
