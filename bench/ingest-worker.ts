/** Reads a PDF in one of two ways and says how many seconds of CPU that took: `bare` or `whole`, a small file, the file. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extractText, getDocumentProxy } from "unpdf";

const [way, small, file] = process.argv.slice(2) as ["bare" | "whole", string, string];
const ticksPerSecond = 100;

/** Of this process and of those that it has started. */
function cpuSeconds(): number {
  const own = process.cpuUsage();
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = ids.reduce((sum, id) => {
    const fields = statOf(id).split(") ")[1]?.split(" ") ?? [];
    return fields[1] === String(process.pid) ? sum + (Number(fields[11]) + Number(fields[12])) / ticksPerSecond : sum;
  }, 0);
  return (own.user + own.system) / 1e6 + children;
}

function statOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, "utf8");
  } catch {
    return "";
  }
}

/** The file's pages, after something small that warms up what a server has warm. */
async function bare(): Promise<Measured> {
  const read = async (path: string) => {
    const document = await getDocumentProxy(new Uint8Array(await readFile(path)));
    return (await extractText(document, { mergePages: false })).text.length;
  };
  await read(small);
  const before = cpuSeconds();
  const pages = await read(file);
  return { seconds: cpuSeconds() - before, pages };
}

/** Kept, read apart, cut, and stored so that it is found. */
async function whole(): Promise<Measured> {
  // Here, so that the bare way does not pay for them.
  const { createKnowledge } = await import("../src/knowledge/knowledge.ts");
  const { callerOf } = await import("../src/protocol/base/callers.ts");
  const { migrate } = await import("../src/store/schema/migrate.ts");
  const { openDatabase } = await import("../src/store/driver/open.ts");
  const { ensureOwner } = await import("../src/store/people/users.ts");
  const { bytesOf, knowledgeOptions } = await import("../test/knowledge.ts");
  const folder = await mkdtemp(join(tmpdir(), "colloquy-ingest-"));
  const database = await openDatabase({ dataDirectory: join(folder, "data") });
  await migrate(database);
  const owner = callerOf(await ensureOwner(database.query), "local");
  let done = Promise.withResolvers<void>();
  const options = knowledgeOptions({ database, folder: join(folder, "documents"), url: "http://127.0.0.1:1/v1" });
  const { collections, documents, close } = await createKnowledge({
    ...options,
    documentBytes: 1e9,
    limits: { bytes: 1e10, documents: 10 },
    onReady: () => done.resolve(),
  });
  const settings = { chunkSize: 500, chunkOverlap: 50 };
  const { id } = await collections.create(owner, { name: "bench", settings });
  const read = async (path: string) => {
    done = Promise.withResolvers<void>();
    const bytes = bytesOf(await readFile(path));
    const { document } = await documents.add(owner, id, { name: path, source: { kind: "file" }, bytes });
    await done.promise;
    return (await documents.get(owner, document.id)).pages ?? 0;
  };
  await read(small);
  const before = cpuSeconds();
  const pages = await read(file);
  const seconds = cpuSeconds() - before;
  await close();
  await database.close();
  await rm(folder, { recursive: true });
  return { seconds, pages };
}

type Measured = { readonly seconds: number; readonly pages: number };

console.log(JSON.stringify(await (way === "bare" ? bare() : whole())));
