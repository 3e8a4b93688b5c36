import { encodedPath } from "../../src/client/request.ts";
import type { ConversationBlock } from "../../src/client/conversation.ts";
import type { FileChange } from "../../src/protocol/threads/files.ts";

/** A file as a call left it. */
export type MadeFile = FileChange & { /** Changes with each call that touches it. */ readonly version: string };

/** Shown by a turn; what else there is stands in the list of all files. */
export const maxMadeFiles = 24;

/** What the calls of a turn made or changed and what is still there after the last of them. */
export function madeFiles(blocks: readonly ConversationBlock[]): readonly MadeFile[] {
  const files = new Map<string, MadeFile>();
  for (const block of blocks) {
    if (block.kind !== "call" || !block.result) continue;
    for (const file of filesIn(block.result.data)) {
      files.delete(file.path);
      if (file.change !== "removed") files.set(file.path, { ...file, version: block.endedAt ?? "" });
    }
  }
  return [...files.values()];
}

function filesIn(data: unknown): readonly FileChange[] {
  const files: unknown = isObject(data) ? data["files"] : undefined;
  return Array.isArray(files) ? files.filter(isFileChange) : [];
}

function isFileChange(value: unknown): value is FileChange {
  if (!isObject(value)) return false;
  const { path, bytes, change, mediaType } = value;
  return (
    typeof path === "string" &&
    typeof bytes === "number" &&
    typeof change === "string" &&
    (mediaType === undefined || typeof mediaType === "string")
  );
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isPicture({ mediaType = "" }: Pick<FileChange, "mediaType">): boolean {
  return /^image\/(png|jpeg|gif|webp|svg\+xml|avif|bmp)$/.test(mediaType);
}

/** Below the route that gives out the files of a workspace. */
export function addressOfFile(root: string, path: string, version?: string): string {
  const address = `${root}/${encodedPath(path)}`;
  return version === undefined ? address : `${address}?v=${encodeURIComponent(version)}`;
}
