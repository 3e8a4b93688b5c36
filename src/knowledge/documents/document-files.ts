import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import { InvalidInput, NotFound, Unavailable } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";

export type FileDigest = { readonly bytes: number; readonly sha256: string };

/** Originals and texts of documents: a folder for each collection, in it one for each document. */
export type DocumentFiles = {
  /** Where something is that a row names. Throws NotFound for what would be elsewhere, Unavailable where there are no files. */
  placeOf(file: string): string;
  /** Writes what comes in; it has a place only by `keep`. Throws InvalidInput 413 `document_too_large`. */
  receive(bytes: AsyncIterable<Uint8Array>): Promise<StagedFile>;
  /** Where the work on a document is kept until it is done; the same for the same key. */
  workFolder(document: DocumentPlace, key: string): Promise<string>;
  /** A name for a file of the document that nothing has yet, relative to the folder of all. */
  newFile(document: DocumentPlace, name: string): string;
  /** Those of a document that its row does not name any more. */
  removeFiles(files: readonly (string | null)[]): Promise<void>;
  removeWork(document: DocumentPlace): Promise<void>;
  removeDocument(document: DocumentPlace): Promise<void>;
  removeCollection(collectionId: string): Promise<void>;
  /** Removes what processes left that died: what no row names, and is older than an hour. */
  sweep(rows: SweptRows): Promise<void>;
};

export type SweptRows = {
  /** Which of these are ids of collections that there are. */
  collections(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The files that rows of these documents name; work in progress on one that is not there belongs to nobody. */
  documents(ids: readonly string[]): Promise<ReadonlyMap<string, readonly (string | null)[]>>;
};

export type StagedFile = FileDigest & {
  /** Where it is until it is kept or dropped. */
  readonly place: string;
  /** Moves it to the place that a row will name. */
  keep(file: string): Promise<void>;
  /** Undoes that. */
  takeBack(): Promise<void>;
  /** Does nothing once it is kept. */
  drop(): Promise<void>;
};

export type DocumentPlace = { readonly id: string; readonly collectionId: string };

const megabyte = 1024 * 1024;
const incoming = "incoming";
const work = "work-";
const leftoverMs = 60 * 60_000;
const maxNameBytes = 120;

export function createDocumentFiles({
  folder,
  documentBytes,
  checkDisk,
  refusal,
}: {
  readonly folder: string;
  readonly documentBytes: number;
  /** Throws if the folder's disk must not take so many bytes more. */
  readonly checkDisk?: ((folder: string, bytes: number) => Promise<void>) | undefined;
  /** Why this process can't work with files. */
  readonly refusal?: string | undefined;
}): DocumentFiles {
  const placeOf = (file: string): string => {
    if (refusal !== undefined) throw new Unavailable(refusal, { code: "files_unavailable" });
    // An import may contain any path.
    const place = resolve(folder, file);
    if (!place.startsWith(resolve(folder) + sep))
      throw new NotFound("The file is not here.", { code: "file_not_found" });
    return place;
  };
  const folderOf = ({ id, collectionId }: DocumentPlace) => placeOf(join(collectionId, id));

  return {
    placeOf,
    async receive(bytes) {
      const part = placeOf(join(incoming, newId()));
      await mkdir(join(folder, incoming), { recursive: true, mode: 0o700 });
      await checkDisk?.(folder, 0);
      const drop = () => rm(part, { force: true });
      try {
        const received = await write(part, bytes, documentBytes);
        let kept: string | undefined;
        return {
          ...received,
          place: part,
          drop,
          async keep(file) {
            const place = placeOf(file);
            await mkdir(join(place, ".."), { recursive: true, mode: 0o700 });
            await rename(part, place);
            kept = place;
          },
          async takeBack() {
            if (kept !== undefined) await rename(kept, part);
            kept = undefined;
          },
        };
      } catch (error) {
        await drop();
        throw error;
      }
    },
    async workFolder(document, key) {
      const place = join(folderOf(document), work + key);
      await mkdir(place, { recursive: true, mode: 0o700 });
      return place;
    },
    newFile: ({ id, collectionId }, name) => join(collectionId, id, `${newId().slice(-8)}-${plainName(name)}`),
    async removeFiles(gone) {
      for (const file of gone) if (file !== null) await rm(placeOf(file), { force: true });
    },
    async removeWork(document) {
      const place = folderOf(document);
      for (const entry of await entriesOf(place)) if (entry.startsWith(work)) await removeTree(join(place, entry));
    },
    removeDocument: (document) => removeTree(folderOf(document)),
    removeCollection: (collectionId) => removeTree(placeOf(collectionId)),
    async sweep(rows) {
      await removeOld(placeOf(incoming), await entriesOf(placeOf(incoming)));
      const collections = (await entriesOf(folder)).filter(isId);
      const there = await rows.collections(collections);
      await removeOld(
        folder,
        collections.filter((id) => !there.has(id)),
      );
      for (const collection of there) {
        const place = placeOf(collection);
        const ids = await entriesOf(place);
        const named = await rows.documents(ids.filter(isId));
        await removeOld(
          place,
          ids.filter((id) => !named.has(id)),
        );
        for (const [id, files] of named) {
          const kept = new Set(files.flatMap((file) => (file === null ? [] : [basename(file)])));
          const entries = await entriesOf(join(place, id));
          await removeOld(
            join(place, id),
            entries.filter((entry) => !kept.has(entry) && !entry.startsWith(work)),
          );
        }
      }
    },
  };
}

/** Somebody may be writing in it who has not noticed yet: what is left then goes with the next sweep. */
async function removeTree(place: string): Promise<void> {
  await rm(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
  });
}

async function removeOld(folder: string, entries: readonly string[]): Promise<void> {
  for (const entry of entries) {
    const place = join(folder, entry);
    const stats = await stat(place).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > leftoverMs) await removeTree(place);
  }
}

async function write(place: string, bytes: AsyncIterable<Uint8Array>, most: number): Promise<FileDigest> {
  const hash = createHash("sha256");
  const file = await open(place, "wx", 0o600);
  let size = 0;
  try {
    for await (const piece of bytes) {
      size += piece.length;
      if (size > most)
        throw new InvalidInput(
          `The document is larger than ${Math.floor(most / megabyte)} MB (rag.documentMb). Split it.`,
          { status: 413, code: "document_too_large" },
        );
      hash.update(piece);
      await file.write(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes: size, sha256: hash.digest("hex") };
}

/** A file as it is read, from its first use on: one that is open and read by nobody may fail where nobody hears it. */
export async function* bytesOf(place: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(place) as AsyncIterable<Uint8Array>;
}

async function entriesOf(place: string): Promise<readonly string[]> {
  return readdir(place).catch(() => []);
}

/** The last part of a path, with nothing in it that file systems trip over; its ending stays. */
function plainName(name: string): string {
  const last = name
    .replaceAll("\\", "/")
    .split("/")
    .at(-1)!
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{N}._ -]/gu, "_");
  let plain = last.replace(/^[. ]+/, "");
  while (Buffer.byteLength(plain) > maxNameBytes) plain = plain.slice(Math.max(1, plain.length >> 3));
  return plain === "" ? "document" : plain;
}
