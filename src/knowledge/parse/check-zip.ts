import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Entry, open, type ZipFile } from "yauzl";
import { messageOf } from "../../protocol/base/errors.ts";
import { UnreadableFile } from "./parsed.ts";

const megabyte = 1024 * 1024;

export type ZipLimits = {
  readonly entries: number;
  /** Unpacked, all together and each. */
  readonly bytes: number;
  readonly entryBytes: number;
};
const defaultZipLimits: ZipLimits = { entries: 10_000, bytes: 200 * megabyte, entryBytes: 100 * megabyte };

/** Documents shrink to a tenth or so; what unpacks to so many times its size, and is large, was made to harm. */
const maxGrowth = 250;
const largeBytes = 20 * megabyte;

/**
 * Unpacks everything to nowhere before a parser may unpack it to memory: the sizes that an archive states of itself may be
 * lies. Throws UnreadableFile. Resolves to the entries' names.
 */
export async function checkZip(
  path: string,
  limits = defaultZipLimits,
): Promise<{ readonly names: ReadonlySet<string> }> {
  const zip = await openZip(path);
  const names = new Set<string>();
  let bytes = 0;
  try {
    for await (const entry of entriesOf(zip)) {
      names.add(entry.fileName);
      if (names.size > limits.entries) throw tooLarge(`more than ${limits.entries} entries`);
      if (entry.isEncrypted())
        throw new UnreadableFile("encrypted", "The file is encrypted; save it without a password.");
      if (!entry.canDecodeFileData())
        throw new UnreadableFile("broken", "The file is packed in a way that can't be read.");
      const before = bytes;
      const count = new Writable({
        write(chunk: Buffer, _encoding, done) {
          bytes += chunk.length;
          const size = bytes - before;
          if (bytes > limits.bytes || size > limits.entryBytes) return done(tooLarge("too much when it is unpacked"));
          if (size > largeBytes && size > entry.compressedSize * maxGrowth)
            return done(tooLarge(`more than ${maxGrowth} times its size when it is unpacked`));
          done();
        },
      });
      await pipeline(await streamOf(zip, entry), count);
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile("broken", `The file is damaged: ${messageOf(error)}`, { cause: error });
  } finally {
    zip.close();
  }
  return { names };
}

function tooLarge(what: string): UnreadableFile {
  return new UnreadableFile("too-large", `The file contains ${what} and was rejected.`);
}

function openZip(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true }, (error, zip) => {
      if (error) reject(new UnreadableFile("broken", `The file is damaged: ${error.message}`, { cause: error }));
      else resolve(zip);
    });
  });
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      zip
        .once("entry", resolve)
        .once("end", () => resolve(undefined))
        .once("error", reject);
      zip.readEntry();
    });
    zip.removeAllListeners("entry").removeAllListeners("end").removeAllListeners("error");
    if (!entry) return;
    yield entry;
  }
}

function streamOf(zip: ZipFile, entry: Entry): Promise<NodeJS.ReadableStream> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}
