import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, messageOf, NotFound, Unavailable } from "../../protocol/base/errors.ts";
import type { AttachedFile } from "../../protocol/threads/items.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import {
  beginUpload,
  findUploadFile,
  getUpload,
  listUploads,
  readUpload,
  receivedUpload,
  removeAbandoned,
  removeUpload,
  type Upload,
  type UploadContent,
  type UploadLimits,
} from "../../store/knowledge/uploads.ts";
import { attachedFile } from "./attached-file.ts";
import { createFairQueue } from "./fair-queue.ts";
import { parseFile } from "../parse/parse-file.ts";
import { UnreadableFile } from "../parse/parsed.ts";

export type UploadsOptions = {
  readonly database: Database;
  /** In it a folder for each user. */
  readonly folder: string;
  /** Limits of one file, and of all files of a user. */
  readonly fileBytes: number;
  readonly limits: UploadLimits;
  /** Throws if so many bytes would leave too little free of the disk. */
  readonly checkDisk?: (folder: string, bytes: number) => Promise<void>;
  readonly log: Log;
  /** Why this process can't work with files. */
  readonly refusal?: string | undefined;
};

type UploadOwner = Pick<Caller, "userId" | "name">;
type Bytes = AsyncIterable<Uint8Array>;

/** Files of people, kept until they are deleted. Each verb throws NotFound for what is not the caller's. */
export type Uploads = {
  /** A place for a file that comes in pieces, from `append`. */
  begin(owner: UploadOwner, file: { readonly name: string; readonly bytes: number }): Promise<Upload>;
  /**
   * The next piece; `offset` is what is here already, or `start` to begin anew. Throws Conflict `wrong_offset`. With the last
   * one it is read.
   */
  append(
    owner: UploadOwner,
    id: string,
    piece: { readonly offset: number | "start"; readonly bytes: Bytes },
  ): Promise<Upload>;
  /** A whole file, of unknown length. */
  receive(owner: UploadOwner, file: { readonly name: string; readonly bytes: Bytes }): Promise<Upload>;
  get(owner: UploadOwner, id: string): Promise<Upload>;
  /** How much of it is here. */
  offsetOf(upload: Upload): Promise<number>;
  list(owner: UploadOwner, page: { readonly before?: string; readonly limit: number }): Promise<readonly Upload[]>;
  remove(owner: UploadOwner, id: string): Promise<void>;
  /** Removes an upload, if it exists, without checking its owner: because it is old, or its owner is removed. */
  removeById(id: string): Promise<void>;
  /** Where its bytes are. */
  placeOf(upload: Pick<Upload, "file">): string;
  /** As messages bring them. Throws Conflict `file_incomplete`. */
  attach(owner: UploadOwner, ids: readonly string[]): Promise<readonly AttachedFile[]>;
  /** An image as a `data:` URL; undefined: it is gone, or too large for any model. */
  imageUrl(id: string, userId: string): Promise<string | undefined>;
  /** Removes what was begun a day ago and never finished. */
  removeAbandoned(): Promise<void>;
};

const megabyte = 1024 * 1024;
/** Limit of the providers: a larger image would make them refuse the whole request. */
const maxImageBytes = 20 * megabyte;
const abandonedHours = 24;
/** File systems allow 255; an ID and an extension are added. */
const maxNameBytes = 150;
/** At the same time; each may need a gigabyte. */
const readers = 2;

export function createUploads(options: UploadsOptions): Uploads {
  const { database, folder, fileBytes, limits, checkDisk, log, refusal } = options;
  const { query } = database;
  /** Resolves a path. It is not trusted: an import may contain any path. */
  const placeOf = ({ file }: Pick<Upload, "file">) => {
    const place = resolve(folder, file);
    if (!place.startsWith(resolve(folder) + sep))
      throw new NotFound("The file is not here.", { code: "file_not_found" });
    return place;
  };
  const writing = new Set<string>();
  const checkFiles = () => {
    if (refusal !== undefined) throw new Unavailable(refusal, { code: "files_unavailable" });
  };
  const partOf = (upload: Pick<Upload, "file">) => `${placeOf(upload)}.part`;
  const reading = createFairQueue(readers);

  const place = async (
    { userId, name: userName }: UploadOwner,
    { name, bytes }: { readonly name: string; readonly bytes: number | { readonly most: number } },
  ) => {
    checkFiles();
    if (typeof bytes === "number" && bytes > fileBytes) throw tooLarge(fileBytes);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await checkDisk?.(folder, typeof bytes === "number" ? bytes : 0);
    const plain = fileName(name);
    const file = (id: string) => join(isFolderName(userName) ? userName : userId, `${id}-${plain}`);
    const upload = await beginUpload(database, { userId, name: plain, bytes, file }, limits);
    await mkdir(dirname(placeOf(upload)), { recursive: true, mode: 0o700 });
    return upload;
  };

  /** Finds out what is in it. Also done again for one whose reader died with its process. */
  async function read(upload: Upload): Promise<Upload> {
    const content = await reading(upload.userId, () => contentOf(placeOf(upload), upload.name, log));
    return gone(await readUpload(query, upload.id, content), upload.id);
  }

  /** The part first: a writer that finishes meanwhile moves it to the place. */
  async function removeFiles(upload: Pick<Upload, "file">): Promise<void> {
    for (const file of [partOf(upload), placeOf(upload)]) await rm(file, { force: true });
  }

  /** One at a time may write a file. */
  async function alone<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    checkFiles();
    if (writing.has(id)) throw new Conflict("The file is being written right now.", { code: "upload_busy" });
    writing.add(id);
    try {
      return await work();
    } finally {
      writing.delete(id);
    }
  }

  async function finish(upload: Upload): Promise<Upload> {
    const part = partOf(upload);
    const { size } = await stat(part);
    const sha256 = await hashOf(part);
    await rename(part, placeOf(upload));
    const received = await receivedUpload(query, { id: upload.id, bytes: size, sha256 });
    if (!received) await rm(placeOf(upload), { force: true });
    return read(gone(received, upload.id));
  }

  const uploads: Uploads = {
    begin: place,
    append: (owner, id, { offset, bytes }) =>
      alone(id, async () => {
        const upload = await getUpload(query, owner.userId, id);
        if (upload.state !== "receiving") throw new Conflict("The file is here as a whole.", { code: "file_complete" });
        const have = offset === "start" ? 0 : await uploads.offsetOf(upload);
        if (offset !== "start" && offset !== have)
          throw new Conflict(`${have} bytes have arrived; continue from there.`, { code: "wrong_offset" });
        const size =
          have + (await write(partOf(upload), bytes, { at: have, most: upload.bytes - have, over: tooLong(upload) }));
        return size === upload.bytes ? finish(upload) : upload;
      }),
    async receive(owner, { name, bytes }) {
      // Its length is known when all of it is here; until then it holds what it may come to at most.
      const upload = await place(owner, { name, bytes: { most: fileBytes } });
      try {
        const over = upload.bytes < fileBytes ? tooMuch(limits.bytes) : tooLarge(fileBytes);
        await write(partOf(upload), bytes, { at: 0, most: upload.bytes, over });
        return await finish(upload);
      } catch (error) {
        await rm(partOf(upload), { force: true });
        await removeUpload(query, upload.id);
        throw error;
      }
    },
    get: (owner, id) => getUpload(query, owner.userId, id),
    async offsetOf(upload) {
      if (upload.state !== "receiving") return upload.bytes;
      return (await stat(partOf(upload)).catch(() => undefined))?.size ?? 0;
    },
    list: ({ userId }, page) => listUploads(query, { userId, ...page }),
    async remove({ userId }, id) {
      checkFiles();
      const upload = await getUpload(query, userId, id);
      await removeUpload(query, upload.id);
      await removeFiles(upload);
    },
    async removeById(id) {
      checkFiles();
      const file = await findUploadFile(query, id);
      if (file === undefined) return;
      // The files first: whoever comes after a process that died here finds the row.
      await removeFiles({ file });
      await removeUpload(query, id);
      // An import may have brought files that lie elsewhere.
      if (dirname(file) !== ".") await rmdir(dirname(placeOf({ file }))).catch(() => {});
    },
    placeOf,
    async attach(owner, ids) {
      checkFiles();
      const files: AttachedFile[] = [];
      for (const id of new Set(ids)) {
        const upload = await getUpload(query, owner.userId, id);
        if (upload.state === "receiving")
          throw new Conflict(`The file ${upload.name} is not here as a whole yet.`, { code: "file_incomplete" });
        files.push(attachedFile(upload.state === "ready" ? upload : await read(upload)));
      }
      return files;
    },
    async imageUrl(id, userId) {
      const upload = await getUpload(query, userId, id).catch((error: unknown) => {
        if (error instanceof NotFound) return undefined;
        throw error;
      });
      if (!upload || upload.bytes > maxImageBytes) return undefined;
      const bytes = await readFile(placeOf(upload)).catch(() => undefined);
      return bytes && `data:${upload.mediaType ?? "image/png"};base64,${bytes.toString("base64")}`;
    },
    async removeAbandoned() {
      for (const upload of await removeAbandoned(query, abandonedHours)) await removeFiles(upload);
    },
  };
  return uploads;
}

/** Resolves to the number of bytes. Throws InvalidInput (413); what was written until then stays. */
async function write(
  place: string,
  bytes: Bytes,
  { at, most, over }: { readonly at: number; readonly most: number; readonly over: Error },
): Promise<number> {
  const file = await open(place, at === 0 ? "w" : "r+", 0o600);
  let size = 0;
  try {
    for await (const piece of bytes) {
      if (size + piece.length > most) throw over;
      await file.write(piece, 0, piece.length, at + size);
      size += piece.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return size;
}

async function contentOf(path: string, name: string, log: Log): Promise<UploadContent> {
  try {
    const { signal } = new AbortController();
    const { kind, mediaType, metadata } = await parseFile(path, { name, maxText: 0, whole: false, signal });
    return { kind, mediaType, metadata, problem: null };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) log.warn({ error: messageOf(error) }, "an upload could not be read");
    const problem = error instanceof UnreadableFile ? error.message : "The file could not be read.";
    return { kind: null, mediaType: null, metadata: null, problem };
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece);
  return hash.digest("hex");
}

function gone(upload: Upload | undefined, id: string): Upload {
  if (!upload) throw new NotFound(`The file ${id} was deleted meanwhile.`, { code: "file_not_found" });
  return upload;
}

/** The last part of a path, without what file systems and prompts trip over. */
function fileName(name: string): string {
  const last = name.replaceAll("\\", "/").split("/").at(-1)!.toWellFormed().normalize();
  const plain = last
    .replaceAll(/[\p{Cc}<>:"|?*]/gu, "")
    .replace(/^\.+/, "")
    .trim();
  if (plain === "") return "file";
  const dot = plain.lastIndexOf(".");
  const ending = dot > 0 ? cut(plain.slice(dot), 20) : "";
  return cut(dot > 0 ? plain.slice(0, dot) : plain, maxNameBytes - Buffer.byteLength(ending)) + ending;
}

/** At whole characters. */
function cut(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function isFolderName(name: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u.test(name);
}

function tooLarge(most: number): InvalidInput {
  return new InvalidInput(`The file is larger than ${Math.floor(most / megabyte)} MB.`, {
    status: 413,
    code: "file_too_large",
  });
}

function tooLong({ bytes }: Pick<Upload, "bytes">): InvalidInput {
  return new InvalidInput(`The file was announced with ${bytes} bytes, and more came.`, { code: "file_too_long" });
}

function tooMuch(most: number): InvalidInput {
  return new InvalidInput(`Your files may have ${Math.floor(most / megabyte)} MB in total. Delete some first.`, {
    status: 413,
    code: "quota_exceeded",
  });
}
