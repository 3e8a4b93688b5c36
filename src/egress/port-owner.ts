import { readFile } from "node:fs/promises";

const listening = "0A";
/** Of these users systems make accounts for services, such as Ollama's; people have higher numbers. */
const highestOfServices = 999;
/** What the kernel writes for a user whom the namespace of this process does not know. */
const unknownUid = 65_534;

/**
 * Whether another person of this machine listens at a port of it, so that what is found there without being configured is not
 * to be trusted. False for root, for services, and where the system can't tell.
 */
export async function isOtherUsersPort(port: number, readTables = readKernelTables): Promise<boolean> {
  const own = process.geteuid?.();
  if (own === undefined) return false;
  const uids = listenersAt(port, await readTables());
  return uids.some((uid) => uid !== own && uid > highestOfServices && uid !== unknownUid);
}

/** The users who listen at a port, by the tables of `/proc/net/tcp` and `tcp6`. */
export function listenersAt(port: number, tables: string): number[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return tables.split("\n").flatMap((line) => {
    const [, address = "", , state, , , , uid = ""] = line.trim().split(/\s+/);
    return state === listening && address.endsWith(local) && /^\d+$/.test(uid) ? [Number(uid)] : [];
  });
}

async function readKernelTables(): Promise<string> {
  if (process.platform !== "linux") return "";
  const read = (path: string) => readFile(path, "latin1").catch(() => "");
  return (await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map(read))).join("\n");
}
