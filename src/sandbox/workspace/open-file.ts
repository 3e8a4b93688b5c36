import { Conflict } from "../../protocol/base/errors.ts";
import type { OpenedFile } from "./open-folder.ts";
import { versionOf } from "./walk.ts";
import { shownPath } from "./path.ts";

export type FileFacts = {
  readonly bytes: number;
  readonly modified: Date;
  /** Another one when the file is another one, or was written. */
  readonly version: string;
};

export type OpenFile = FileFacts & {
  /** Exactly these bytes, `end` exclusive, then it is closed. Fails if the file has become shorter meanwhile. */
  read(range?: { readonly start?: number; readonly end?: number }): AsyncGenerator<Buffer>;
  close(): Promise<void>;
};

const chunkBytes = 64 * 1024;

export function openFileOf({ handle, stats }: OpenedFile, path: string): OpenFile {
  return {
    bytes: stats.size,
    modified: stats.mtime,
    version: versionOf(stats),
    async *read({ start = 0, end = stats.size } = {}) {
      try {
        for (let position = start; position < end;) {
          const length = Math.min(chunkBytes, end - position);
          const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
          if (bytesRead === 0)
            throw new Conflict(`${shownPath(path)} became shorter while it was read.`, { code: "file_changed" });
          position += bytesRead;
          yield buffer.subarray(0, bytesRead);
        }
      } finally {
        await handle.close();
      }
    },
    close: () => handle.close(),
  };
}
