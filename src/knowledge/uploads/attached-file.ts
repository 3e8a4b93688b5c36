import type { AttachedFile } from "../../protocol/threads/items.ts";
import type { Upload } from "../../store/knowledge/uploads.ts";

const maxCharacters = 6000;

/** Returns the file's path in the workspace; two files with the same name get different paths. */
function attachedPath({ id, name }: Pick<Upload, "id" | "name">): string {
  return `uploads/${id.slice(-4)}/${name}`;
}

/** Returns a file as part of a message, with the description that tells the model its content without a tool. */
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
  const about = text.length > maxCharacters ? text.slice(0, maxCharacters).toWellFormed() + "…" : text;
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
