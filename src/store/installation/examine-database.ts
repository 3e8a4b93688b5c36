import { statfs } from "node:fs/promises";
import type { Finding } from "../../protocol/people/overview.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { checkInvariants, examined, hasMore, stuck } from "../schema/invariants.ts";
import { countIndexed, indexingPercent } from "../knowledge/index-state.ts";
import { listUnscopedKeys } from "../people/api-keys.ts";
import type { FileProof } from "./data-folder.ts";
import { examineModes } from "./data-modes.ts";

export type StorePaths = { readonly dataDirectory: string; readonly fileProof?: FileProof };
/** `all`: every row, however long it takes; else the newest and some others, where there are many. */
type Examination = StorePaths & { readonly all?: boolean };

const gigabyte = 1024 ** 3;
const leastFree = 0.1 * gigabyte;
const littleFree = gigabyte;
const smallSkewSeconds = 1;
const largeSkewSeconds = 30;

/** Examines the database and its surroundings, and finds rows that violate an invariant. */
export async function examineDatabase(
  { query, kind, label }: Database,
  { dataDirectory, fileProof, all = false }: Examination,
): Promise<readonly Finding[]> {
  const [row] = await query<{ version: string }>("select current_setting('server_version') as version");
  return [
    { grade: "ok", about: "database", text: `${kind}, ${label}, PostgreSQL ${row!.version}` },
    ...(await examineExtensions(query)),
    await examineClock(query),
    await examineDisk(dataDirectory),
    ...examineFiles(dataDirectory, fileProof),
    ...examineModes(dataDirectory),
    ...(await examineRows(query, all)),
    await examineKnowledge(query),
    await examineDeliveries(query),
    ...(await examineKeys(query)),
  ];
}

const extensions = [
  { name: "vector", without: "similar texts are found by an exact scan, which is slow for many" },
  { name: "pg_textsearch", without: "words are ranked by SQL of our own" },
];

async function examineExtensions(query: Query): Promise<Finding[]> {
  const available = await query<{ name: string }>("select name from pg_available_extensions");
  return extensions.map(({ name, without }) =>
    available.some((extension) => extension.name === name)
      ? { grade: "ok", about: "database", text: `the extension ${name} is available` }
      : { grade: "note", about: "database", text: `the extension ${name} is not available: ${without}` },
  );
}

function examineFiles(dataDirectory: string, fileProof: FileProof | undefined): Finding[] {
  if (fileProof !== "apart") return [];
  const text = `${dataDirectory} is not the data directory of the other nodes: this one takes no work with files`;
  return [{ grade: "trouble", about: "files", text }];
}

async function examineRows(query: Query, all: boolean): Promise<Finding[]> {
  const isPart = !all && (await hasMore(query));
  const findings = (await checkInvariants(query, { some: isPart })).map(({ name, broken }): Finding =>
    broken === 0
      ? { grade: "ok", about: "rows", text: name }
      : name === stuck.name
        ? {
            grade: "note",
            about: "rows",
            text: `${broken} runs are at work on a server that is gone; another one takes them within seconds of its start`,
          }
        : { grade: "trouble", about: "rows", text: `${name}: ${broken} rows break this` },
  );
  if (!isPart) return findings;
  const text = `of the newest ${examined} conversations, runs and documents, and of as many others; with --all of all`;
  return [...findings, { grade: "note", about: "rows", text }];
}

/** The half of the round trip is what this can't see. */
async function examineClock(query: Query): Promise<Finding> {
  const before = Date.now();
  const [row] = await query<{ now: Date }>("select clock_timestamp() as now");
  const after = Date.now();
  const seconds = Math.max(0, before - row!.now.getTime(), row!.now.getTime() - after) / 1000;
  const grade = seconds < smallSkewSeconds ? "ok" : seconds < largeSkewSeconds ? "note" : "trouble";
  const text = grade === "ok" ? "the same as the database's" : `${seconds.toFixed(1)} s away from the database's`;
  return { grade, about: "clock", text };
}

async function examineDisk(dataDirectory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(dataDirectory);
  const free = bavail * bsize;
  return {
    grade: free < leastFree ? "trouble" : free < littleFree ? "note" : "ok",
    about: "disk",
    text: `${(free / gigabyte).toFixed(1)} GB free for ${dataDirectory}`,
  };
}

/** Examines all collections together, without telling whose they are. */
async function examineKnowledge(query: Query): Promise<Finding> {
  const collections = await query<{ id: string; textConfig: string }>(
    `select id, coalesce(settings->>'language', 'simple') as "textConfig" from rag_collections where removed_at is null`,
  );
  const states = [...(await countIndexed(query, collections)).values()];
  if (states.length === 0) return { grade: "ok", about: "knowledge", text: "the words of all chunks are indexed" };
  const chunks = states.reduce((sum, state) => sum + state.chunks, 0);
  const indexed = states.reduce((sum, state) => sum + state.indexed, 0);
  const where = states.length === 1 ? "a collection" : `${states.length} collections`;
  return {
    grade: "note",
    about: "knowledge",
    text: `indexing ${indexingPercent({ chunks, indexed })} %: ${indexed} of ${chunks} chunks in ${where}; searches find the others too, more slowly, and a running server goes on indexing`,
  };
}

/** Those from before keys had scopes: they end unless somebody says what they may. */
async function examineKeys(query: Query): Promise<Finding[]> {
  return (await listUnscopedKeys(query)).map(({ id, label, user, unscopedUntil }) => {
    const hasEnded = unscopedUntil! <= new Date();
    const when = `${hasEnded ? "ended" : "ends"} on ${unscopedUntil!.toISOString().slice(0, 10)}`;
    return {
      grade: hasEnded ? "note" : "trouble",
      about: "keys",
      text: `the key "${label}" of ${user} (${id}) is from before keys had scopes and ${when}: ${user} says in the settings what it may, or it is revoked (./colloquy user revoke ${id})`,
    };
  });
}

/** Older ones have been seen, or never will be. */
async function examineDeliveries(query: Query): Promise<Finding> {
  const [row] = await query<{ failed: number }>(
    "select count(*) as failed from deliveries where failed_at > now() - interval '7 days'",
  );
  return row!.failed === 0
    ? { grade: "ok", about: "webhooks", text: "no signal was given up in the last seven days" }
    : { grade: "trouble", about: "webhooks", text: `${row!.failed} signals were given up in the last seven days` };
}
