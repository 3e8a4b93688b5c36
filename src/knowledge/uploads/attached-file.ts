import type { AttachedFile } from "../../protocol/threads/items.ts";
import type { Upload } from "../../store/knowledge/uploads.ts";

const mostCharacters = 6000;

/** Where tools find it, in the workspace of the thread; two files of one name have two places. */
function attachedPath({ id, name }: Pick<Upload, "id" | "name">): string {
  return `uploads/${id.slice(-4)}/${name}`;
}

/** A file as a message brings it: with what a model is told of it, so that it knows what is in it without any tool. */
export function attachedFile({ id, name, bytes, kind, mediaType, metadata, problem }: Upload): AttachedFile {
  const path = attachedPath({ id, name });
  const type = mediaType ?? "application/octet-stream";
  const lines = [
    `File: ${name}`,
    `Path: ${path} (in the workspace)`,
    `Type: ${type}`,
    `Size: ${bytes} bytes`,
    ...(problem === null ? Object.entries(metadata ?? {}).map(([key, value]) => `${key}: ${told(value)}`) : [problem]),
  ];
  const text = lines.join("\n");
  const about = text.length > mostCharacters ? text.slice(0, mostCharacters).toWellFormed() + "…" : text;
  return {
    id,
    name,
    mediaType: type,
    bytes,
    path,
    about,
    ...(kind === "image" && problem === null && { isImage: true }),
  };
}

function told(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
