import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Conflict } from "../../protocol/base/errors.ts";
import { type Holder, readHolder, takeLock } from "./lock.ts";

/** A process that serves PostgreSQL, and keeps its files in this data directory. */
export type PostgresNode = Holder & { readonly database: string };

const folderOf = (dataDirectory: string) => join(dataDirectory, "nodes");

/** Tells others which database this process serves, until it is released or the process ends. */
export function markNode(
  dataDirectory: string,
  { url, database }: { readonly url: string; readonly database: string },
): { readonly release: () => void } {
  // What killed processes left is removed, so that the folder holds no more than there are.
  postgresNodes(dataDirectory);
  const folder = join(folderOf(dataDirectory), `${process.pid}-${randomBytes(4).toString("hex")}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = takeLock(folder);
  lock.announce({ url, database });
  return {
    release() {
      lock.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes that serve PostgreSQL with this data directory. */
export function postgresNodes(dataDirectory: string): readonly PostgresNode[] {
  return namesIn(folderOf(dataDirectory)).flatMap((name) => {
    const folder = join(folderOf(dataDirectory), name);
    const holder = readHolder(folder);
    if (!holder && readdirSync(folder).includes("holder.json")) rmSync(folder, { recursive: true, force: true });
    return holder?.database === undefined ? [] : [{ ...holder, database: holder.database }];
  });
}

/** Where a database is, with neither user nor password: `localhost:5432/colloquy`. */
export function addressOf(url: string): string {
  if (!/^postgres(ql)?:/.test(url) || !URL.canParse(url)) return "PostgreSQL";
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  const isHere = /^(|127\..*|\[::1\])$/.test(host);
  return `${isHere ? "localhost" : host}:${searchParams.get("port") ?? (port || "5432")}${decodeURIComponent(pathname)}`;
}

/**
 * Throws Conflict `other_database` if a server works on another database with this data directory: whoever opened this one would
 * find nothing of what is there. `url`: of PostgreSQL; absent: the embedded database.
 */
export function refuseOtherDatabase(dataDirectory: string, url: string | undefined): void {
  const nodes = postgresNodes(dataDirectory);
  const [node] = nodes;
  const wanted = url === undefined ? "the embedded database there" : addressOf(url);
  if (!node || nodes.some(({ database }) => database === wanted)) return;
  throw new Conflict(
    `The server of ${dataDirectory} (process ${node.pid}, ${node.url}) uses the PostgreSQL database ${node.database}, and this would open ` +
      `${wanted}. Set DATABASE_URL, or database.url in colloquy.yaml, as for the server; or stop the server first.`,
    { code: "other_database" },
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
