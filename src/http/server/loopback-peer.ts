import { once } from "node:events";
import { open } from "node:fs/promises";
import { type AddressInfo, connect, createServer, isIP, isIPv4, type Socket } from "node:net";
import { endianness, release } from "node:os";
import { setTimeout } from "node:timers/promises";

/** Tells which user of this machine is at the other end of a connection; undefined: that can't be told. */
export type PeerUid = (socket: Socket) => Promise<number | undefined>;

/** One end of a connection. */
type SocketEnd = { readonly address: string; readonly port: number };

type Table = "tcp" | "tcp6";

/** By the two ends of a connection as the kernel writes them, the own one first. */
type Owners = ReadonlyMap<string, number>;

/** About 100,000 connections; whoever is further down is not told apart. */
const maxBytes = 16 * 1024 * 1024;
/** A system call gives a page of it at most, but readv fills several pieces that are smaller, in one way to another thread. */
const pieceBytes = 4000;
const pieces = 64;

/** Longest wait for others to share a read with, in milliseconds: a read may take long because the machine is busy. */
const maxPause = 100;

/** UID that the kernel reports for a user outside of this process's user namespace. */
const unknownUid = 65534;

const mappedV4 = [...Array<number>(10).fill(0), 255, 255];
/** `::1`: IPv6 has no other. */
const loopbackOfV6 = [...Array<number>(15).fill(0), 1];

/** What time is to whoever shares reads. */
type Clock = {
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<unknown>;
};

const realClock: Clock = {
  now: () => performance.now(),
  pause: (milliseconds) => setTimeout(milliseconds, undefined, { ref: false }),
};

/**
 * Asks Linux for the owner of the socket at the other end of a loopback connection, once for each connection. A peer that has
 * gone, in another network namespace, or on a system without /proc is not told.
 */
export function createPeerUid({
  readTable = readKernelTable,
  kernel = release(),
  clock = realClock,
}: {
  readonly readTable?: (table: Table) => Promise<string>;
  readonly kernel?: string;
  readonly clock?: Clock;
} = {}): PeerUid {
  const known = new WeakMap<Socket, Promise<number | undefined>>();
  const share = (table: Table) => shareReads(async () => ownersOf(await readTable(table)), clock);
  const snapshots = { tcp: share("tcp"), tcp6: share("tcp6") };
  return (socket) => {
    let uid = known.get(socket);
    if (!uid)
      known.set(socket, (uid = find(socket, snapshots).then((found) => (isRelay(found, kernel) ? undefined : found))));
    return uid;
  };
}

/** Programs of Windows reach WSL through one that runs as root there, whoever they are. */
function isRelay(uid: number | undefined, kernel: string): boolean {
  return uid === 0 && isWsl(kernel);
}

function isWsl(kernel: string): boolean {
  return /microsoft/i.test(kernel);
}

/** Whether this system tells whose a browser of this machine is: tried with a connection to ourselves. */
export async function canIdentifyPeers(): Promise<boolean> {
  if (isWsl(release())) return false;
  // Not shared with other workers, which would get our connection.
  const server = createServer().listen({ port: 0, host: "127.0.0.1", exclusive: true });
  await once(server, "listening");
  const accepted = once(server, "connection");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await accepted) as [Socket];
  try {
    return (await createPeerUid()(socket)) === process.geteuid?.() && process.geteuid !== undefined;
  } finally {
    client.destroy();
    socket.destroy();
    server.close();
  }
}

async function find(
  socket: Socket,
  snapshots: Readonly<Record<Table, () => Promise<Owners>>>,
): Promise<number | undefined> {
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  const client = { address: plain(remoteAddress), port: remotePort };
  const server = { address: plain(localAddress), port: localPort };
  if (!isLoopback(client.address) || !isLoopback(server.address)) return undefined;
  const tables: readonly Table[] = isIPv4(client.address) ? ["tcp", "tcp6"] : ["tcp6"];
  // Lines move while a long table is read, so that one may be missed: each is looked at twice.
  for (const table of [...tables, ...tables]) {
    const uid = uidOf(await snapshots[table](), client, server);
    // Whoever is gone may have left its port to somebody else, who gets a connection from it only once our own end is closed.
    // While that is open, the other one was still the same when its line was read.
    if (!isOpen(socket)) return undefined;
    if (uid !== undefined) return uid;
  }
  return undefined;
}

/** Asks the kernel, since what has come from the client may not have been read yet: a closed socket has no peer there. */
function isOpen(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & {
    readonly _handle?: { readonly getpeername?: (out: object) => number };
  };
  return handle?.getpeername?.({}) === 0;
}

/** From its line's colon on: both ends, established, the user, an inode. */
const establishedRow = /: (\S+ \S+) 01 \S+ \S+ \S+ +(\d+) +\d+ [1-9]/y;

/**
 * The user of each established end that has an inode: what a process has left behind is shown with the number 0, as if it were
 * root's. Read in one pass, since most of a long table may be connections that have ended.
 */
export function ownersOf(table: string): Owners {
  const owners = new Map<string, number>();
  for (let line = 0; line < table.length;) {
    const end = table.indexOf("\n", line);
    establishedRow.lastIndex = table.indexOf(":", line);
    const [, ends, uid] = establishedRow.exec(table) ?? [];
    if (ends !== undefined && Number(uid) !== unknownUid) owners.set(ends, Number(uid));
    line = end === -1 ? table.length : end + 1;
  }
  return owners;
}

/** The user of the client's own end. */
export function uidOf(owners: Owners, client: SocketEnd, server: SocketEnd): number | undefined {
  for (const { own, other } of formsOf(client.address, server.address)) {
    const uid = owners.get(`${own}:${portText(client.port)} ${other}:${portText(server.port)}`);
    if (uid !== undefined) return uid;
  }
  return undefined;
}

/** How the kernel writes two addresses; a client may speak IPv4 through a socket of IPv6. */
function formsOf(own: string, other: string): { own: string; other: string }[] {
  if (isIPv4(own) !== isIPv4(other)) return [];
  if (!isIPv4(own)) return [{ own: words(loopbackOfV6), other: words(loopbackOfV6) }];
  return [[], mappedV4].map((before) => ({
    own: words([...before, ...own.split(".").map(Number)]),
    other: words([...before, ...other.split(".").map(Number)]),
  }));
}

/** In words of four bytes, each as this machine holds numbers. */
function words(bytes: readonly number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4);
    text += Buffer.from(endianness() === "LE" ? word.reverse() : word)
      .toString("hex")
      .toUpperCase();
  }
  return text;
}

function portText(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && (address === "::1" || /^127\./.test(address));
}

/**
 * However many ask, one read goes on and one more waits: each gets one that began after it asked. The next one waits for more to
 * share it, as long as sharing the last one has saved. So whoever asks alone waits for nobody.
 */
function shareReads<Read>(read: () => Promise<Read>, { now, pause }: Clock): () => Promise<Read> {
  let free: Promise<unknown> = Promise.resolve();
  let next: Promise<Read> | undefined;
  let asking = 0;
  const readNext = async (): Promise<Read> => {
    await free;
    const spared = asking - 1;
    next = undefined;
    asking = 0;
    const began = now();
    const reading = read();
    free = reading
      .catch(() => undefined)
      .then(() => (spared > 0 ? pause(Math.min(spared * (now() - began), maxPause)) : undefined));
    return reading;
  };
  return () => {
    asking++;
    return (next ??= readNext());
  };
}

/** Empty where it can't be read. */
async function readKernelTable(table: Table): Promise<string> {
  if (process.platform !== "linux") return "";
  try {
    const file = await open(`/proc/net/${table}`, "r");
    try {
      let text = "";
      const bytes = Buffer.alloc(pieces * pieceBytes);
      const parts = Array.from({ length: pieces }, (_, at) => bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes));
      while (text.length < maxBytes) {
        const { bytesRead } = await file.readv(parts);
        if (bytesRead === 0) break;
        text += bytes.toString("latin1", 0, bytesRead);
      }
      return text;
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}
