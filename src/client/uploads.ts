import type { UploadView } from "../protocol/threads/uploads.ts";
import { pause, addressAt, ask, type ClientRequest, askJson, type ServerAccess } from "./request.ts";

export type UploadClient = {
  /** In pieces, so that it can be told how far it is; `onProgress` gets the part that is there, from 0 to 1. */
  send(
    file: File,
    options?: { readonly onProgress?: (part: number) => void; readonly signal?: AbortSignal },
  ): Promise<UploadView>;
  remove(id: string, signal?: AbortSignal): Promise<void>;
  /** Where its bytes are, for a page. */
  addressOf(id: string): string;
};

const pieceBytes = 1024 * 1024;
const lookMs = 250;

export function createUploadClient(server: ServerAccess): UploadClient {
  const json = (path: string, asking: ClientRequest) => askJson<UploadView>(server, `/api/uploads${path}`, asking);
  return {
    async send(file, { onProgress, signal } = {}) {
      let upload = await json("/begin", { method: "POST", body: { name: file.name, bytes: file.size }, signal });
      for (let offset = 0; offset < file.size; offset += pieceBytes) {
        const bytes = new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer());
        upload = await json(`/${upload.id}`, {
          method: "PATCH",
          bytes,
          headers: { "upload-offset": String(offset) },
          signal,
        });
        onProgress?.(Math.min(1, (offset + bytes.length) / file.size));
      }
      // It is read by a process of its own.
      while (upload.state !== "ready" && !signal?.aborted) {
        await pause(lookMs, signal);
        upload = await json(`/${upload.id}`, { signal });
      }
      return upload;
    },
    async remove(id, signal) {
      await ask(server, `/api/uploads/${id}`, { method: "DELETE", signal });
    },
    addressOf: (id) => addressAt(server, `/api/uploads/${id}/content`),
  };
}
