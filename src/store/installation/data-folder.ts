import { createHmac, randomBytes } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Conflict } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { isMissing } from "../moving/export-format.ts";
import { ensureMeta, getMeta } from "../schema/meta.ts";
import { markerKey } from "../moving/moved-tables.ts";

/** `apart`: this node's data directory is not the one that the others use, so it must take no work with files. */
export type FileProof = "shared" | "apart";

/** Any number, the same on all nodes: one proves at a time. */
const lock = 7_206_002;
const fingerprintKey = "secret_fingerprint";

/**
 * Whether this node sees the same data directory as the others: the first one leaves a random marker in `<data>/marker`
 * and in the database, the others compare. An embedded database is in the data directory and needs no proof.
 */
export async function proveFiles(database: Database, dataDirectory: string): Promise<FileProof> {
  if (database.kind === "pglite") return "shared";
  return database.transaction(
    async (query) => {
      const known = await compareFiles(query, dataDirectory);
      if (known) return known;
      // A file without a record: of an earlier database, or of a first node that died here.
      await ensureMeta(query, markerKey, ensureFile(join(dataDirectory, "marker")));
      return "shared";
    },
    { first: `select pg_advisory_xact_lock(${lock})` },
  );
}

/** The same without leaving a marker; undefined: no node has left one yet. */
export async function compareFiles(query: Query, dataDirectory: string): Promise<FileProof | undefined> {
  const recorded = await getMeta(query, markerKey);
  if (recorded === undefined) return undefined;
  return readText(join(dataDirectory, "marker")) === recorded ? "shared" : "apart";
}

/**
 * What seals secrets at rest: the configured one, else `<data>/secret.key`, made at the first start. All nodes must have
 * the same one; the database keeps a fingerprint of it. Throws Conflict `secret_differs`.
 */
export async function ensureSecret(
  query: Query,
  { configured, dataDirectory }: { readonly configured?: string; readonly dataDirectory: string },
): Promise<string> {
  const path = join(dataDirectory, "secret.key");
  const recorded = await getMeta(query, fingerprintKey);
  const known = configured ?? readText(path);
  if (known === undefined && recorded !== undefined)
    throw new Conflict(
      `This node has no secret, and the others have one: ${path} is missing. Give all nodes the same COLLOQUY_SECRET, or the same data directory.`,
      { code: "secret_differs" },
    );
  const secret = known ?? ensureFile(path);
  if ((recorded ?? (await ensureMeta(query, fingerprintKey, fingerprintOf(secret)))) !== fingerprintOf(secret))
    throw new Conflict(
      `The secret of this node (${configured === undefined ? path : "COLLOQUY_SECRET"}) is not the one that was used with this database. ` +
        `Give all nodes the same one. If it is lost, everything encrypted with it is lost too: delete the row ${fingerprintKey} of the table meta to begin with a new one.`,
      { code: "secret_differs" },
    );
  return secret;
}

function fingerprintOf(secret: string): string {
  return createHmac("sha256", secret).update("colloquy: fingerprint of the secret").digest("hex");
}

/** The text of a file, which is made with a random one if it is missing; of several processes all get that of the first. */
function ensureFile(path: string): string {
  const there = readText(path);
  if (there !== undefined) return there;
  const part = `${path}.${randomBytes(6).toString("hex")}.part`;
  writeFileSync(part, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flush: true });
  try {
    chmodSync(part, 0o600);
    linkSync(part, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(part);
  }
  return readText(path)!;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
