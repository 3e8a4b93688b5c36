import { type Shape, timeSchema } from "../base/shapes.ts";
import { z } from "zod";

/**
 * What became of a file of a workspace while a call was at work. Results of calls that touch files carry a list of them as
 * `data.files`, so that clients can show what was made.
 */
export const fileChangeSchema = z.object({
  /** Relative to the workspace, with `/`. */
  path: z.string(),
  /** Its size now; 0 of a removed one. */
  bytes: z.int().nonnegative(),
  change: z.enum(["made", "changed", "removed"]),
  /** By its name; absent: nothing is known. */
  mediaType: z.string().optional(),
});
export type FileChange = Readonly<z.infer<typeof fileChangeSchema>>;

const url = z.string().describe("For files: a link that needs no login for at least 30 days").optional();

/** A file of a workspace, or a folder of one. */
export const fileSchema = z.object({
  /** Relative to the workspace, with `/`. */
  path: z.string(),
  kind: z.enum(["file", "folder", "link", "other"]),
  bytes: z.int(),
  modified: timeSchema,
  mediaType: z.string().optional(),
  url,
});
export type FileView = Shape<typeof fileSchema>;

/** A file that was brought. */
export const uploadedFileSchema = fileChangeSchema.extend({ url });
export type UploadedFile = Shape<typeof uploadedFileSchema> & { readonly url: string };

const dataSchema = z.looseObject({ files: z.array(fileChangeSchema) });

/** The files that a result's `data` names. */
export function filesOf(data: unknown): readonly FileChange[] {
  const parsed = dataSchema.safeParse(data);
  return parsed.success ? parsed.data.files : [];
}

/** What became of files over several calls, in their order: one entry for each that is there or was there before. */
export function mergedFiles(changes: readonly FileChange[]): readonly FileChange[] {
  const merged = new Map<string, FileChange>();
  for (const change of changes) {
    const before = merged.get(change.path);
    merged.delete(change.path);
    const isNew = before?.change === "made";
    if (isNew && change.change === "removed") continue;
    merged.set(change.path, isNew ? { ...change, change: "made" } : change);
  }
  return [...merged.values()];
}

/** Those of them that can be shown where an answer is shown. */
export function imagesIn(files: readonly FileChange[]): readonly FileChange[] {
  return files.filter(({ change, mediaType }) => change !== "removed" && mediaType?.startsWith("image/"));
}

export function fileChange(path: string, bytes: number, change: FileChange["change"]): FileChange {
  const mediaType = mediaTypeOf(path);
  return { path, bytes, change, ...(mediaType === undefined ? {} : { mediaType }) };
}

/** By the end of the name; of no use to trust. */
export function mediaTypeOf(path: string): string | undefined {
  return mediaTypes[/\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
}

const mediaTypes: Readonly<Record<string, string>> = {
  avif: "image/avif",
  bmp: "image/bmp",
  csv: "text/csv",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  parquet: "application/vnd.apache.parquet",
  pdf: "application/pdf",
  png: "image/png",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  py: "text/x-python",
  svg: "image/svg+xml",
  tsv: "text/tab-separated-values",
  txt: "text/plain",
  wav: "audio/wav",
  webp: "image/webp",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};
