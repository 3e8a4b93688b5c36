import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, opendirSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../protocol/people/overview.ts";

/**
 * What the server keeps in a data folder; whatever else stands there is somebody else's. `lock` and those
 * in `nodes` are closed by who takes them, and `db` by who opens it: a lock is lost when another part of the process opens its file.
 */
const kept = ["db", "db.new", "holder.json", "logs", "marker", "models", "nodes", "open.html", "packages"].concat([
  ...["rag_documents", "scratch", "secret.key", "sessions", "token", "uploads"],
]);
/** Everything within is closed by its folder: what commands and packages do with files of theirs is theirs. */
const closedByFolder = new Set(["db", "db.new", "models", "nodes", "packages"]);
const othersMode = 0o077;
const maxEntries = 200_000;
const fewNamed = 5;

export type DataModes = {
  /** How many files and folders other users of the machine could use, and can't any more. */
  readonly mended: number;
  /** Paths that are open to them still, and can't be closed by this process; a few of them. */
  readonly open: readonly string[];
};

/**
 * Takes from other users of this machine what they may do with what the server keeps. At a start a folder that is closed is not
 * looked into, since nobody gets through it; `deep` looks at everything, up to a bound. Follows no link.
 */
export function closeDataFolder(dataDirectory: string, { deep }: { readonly deep: boolean }): DataModes {
  const open: string[] = [];
  let [mended, seen] = [0, 0];
  const look = (path: string, below: number): void => {
    if (++seen > maxEntries) return;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats || (!stats.isFile() && !stats.isDirectory())) return;
    const isOpen = (stats.mode & othersMode) !== 0;
    if (isOpen && closes(path)) mended++;
    else if (isOpen) open.push(path);
    if (stats.isDirectory() && below > 0 && (isOpen || deep))
      for (const name of namesIn(path)) look(join(path, name), below - 1);
  };
  for (const name of kept) {
    // A workspace's folder is ours, and what commands make in it theirs.
    const below = closedByFolder.has(name) ? 0 : name === "scratch" ? 1 : Number.POSITIVE_INFINITY;
    look(join(dataDirectory, name), below);
  }
  return { mended, open: open.slice(0, fewNamed) };
}

/** For doctor, which mends it. */
export function examineModes(dataDirectory: string): Finding[] {
  const { mended, open } = closeDataFolder(dataDirectory, { deep: true });
  const about = "files";
  const findings: Finding[] = open.map((path) => ({ grade: "trouble", about, text: chmodHint(path) }));
  const stats = lstatSync(dataDirectory, { throwIfNoEntry: false });
  if (stats && (stats.mode & 0o022) !== 0)
    findings.push({
      grade: "trouble",
      about,
      text: `other users can put files into ${dataDirectory}: chmod go-w ${dataDirectory}`,
    });
  if (mended > 0) findings.push({ grade: "note", about, text: fixedModesText(mended) });
  if (findings.length === 0)
    findings.push({ grade: "ok", about, text: "no other user of this machine can read the server's files" });
  return findings;
}

export function fixedModesText(mended: number): string {
  return `files and folders of the data folder that other users of this machine could use, closed now: ${mended}`;
}

export function chmodHint(path: string): string {
  return `other users can use ${path}, and it is not this user's to change: give it to the user who runs the server (chown), or chmod go= ${path} as its owner`;
}

/** Works on open descriptors, so that a name that is replaced by a link meanwhile has no effect. */
function closes(path: string): boolean {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      fchmodSync(file, fstatSync(file).mode & 0o700);
    } finally {
      closeSync(file);
    }
    return true;
  } catch {
    // Told by its path, with what to do.
    return false;
  }
}

/** Folders of many entries are read piece by piece; one that can't be read has been told of, or is closed. */
function* namesIn(folder: string): Generator<string> {
  let entries;
  try {
    entries = opendirSync(folder);
  } catch {
    return;
  }
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) yield entry.name;
  } finally {
    entries.closeSync();
  }
}
