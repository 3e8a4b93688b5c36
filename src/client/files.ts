import type { FileChange } from "../protocol/files.ts";
import { ask, queryOf, type Server } from "./request.ts";

export type FileView = {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  /** ISO 8601. */
  readonly modified: string;
  readonly mediaType?: string;
  /** Of a file: for 30 days at least whoever has it needs no login. */
  readonly url?: string;
};

/** The files of a thread. */
export type FileClient = {
  /** Each folder before what is in it. */
  list(
    threadId: string,
    options?: { readonly under?: string; readonly depth?: number },
    signal?: AbortSignal,
  ): Promise<{ readonly data: readonly FileView[]; readonly more: boolean }>;
  download(file: FilePlace, signal?: AbortSignal): Promise<Uint8Array>;
  upload(
    file: FilePlace,
    content: string | Uint8Array<ArrayBuffer>,
    signal?: AbortSignal,
  ): Promise<FileChange & { readonly url: string }>;
  /** A file, or a folder with all that is in it. */
  remove(file: FilePlace, signal?: AbortSignal): Promise<void>;
};

export type FilePlace = { readonly threadId: string; readonly path: string };

export function createFileClient(server: Server): FileClient {
  return {
    async list(threadId, options = {}, signal) {
      const answer = await ask(server, `/api/threads/${threadId}/files${queryOf(options)}`, { signal });
      return (await answer.json()) as Awaited<ReturnType<FileClient["list"]>>;
    },
    download: async (file, signal) => (await ask(server, placeOf(file), { signal })).bytes(),
    async upload(file, bytes, signal) {
      const answer = await ask(server, placeOf(file), { method: "PUT", bytes, signal });
      return (await answer.json()) as Awaited<ReturnType<FileClient["upload"]>>;
    },
    async remove(file, signal) {
      await ask(server, placeOf(file), { method: "DELETE", signal });
    },
  };
}

function placeOf({ threadId, path }: FilePlace): string {
  return `/api/threads/${threadId}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}
