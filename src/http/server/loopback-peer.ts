import { once } from "node:events";
import { open, readlink } from "node:fs/promises";
import { type AddressInfo, connect, createServer, isIP, isIPv4, type Socket } from "node:net";
import { endianness, release } from "node:os";

/** Tells which user of this machine is at the other end of a connection; undefined: that can't be told. */
export type PeerUid = (socket: Socket) => Promise<number | undefined>;

/** One end of a connection. */
type SocketEnd = { readonly address: string; readonly port: number };

const tables = ["/proc/net/tcp", "/proc/net/tcp6"];
/** About 100,000 connections; whoever is further down is not told apart. */
const maxBytes = 16 * 1024 * 1024;
const pieceBytes = 256 * 1024;

/** Two are needed. */
const maxLooks = 4;

/** UID that the kernel reports for a user outside of this process's user namespace. */
const unknownUid = 65534;

const mappedV4 = [...Array<number>(10).fill(0), 255, 255];
/** `::1`: IPv6 has no other. */
const loopbackOfV6 = [...Array<number>(15).fill(0), 1];

/**
 * Asks Linux for the owner of the socket at the other end of a loopback connection, once for each connection. A peer that has
 * gone, in another network namespace, or on a system without /proc is not told.
 */
export function createPeerUid({
  readTables = readKernelTables,
  readInode = inodeOf,
  kernel = release(),
}: {
  readonly readTables?: () => Promise<string>;
  readonly readInode?: (socket: Socket) => Promise<string | undefined>;
  readonly kernel?: string;
} = {}): PeerUid {
  const known = new WeakMap<Socket, Promise<number | undefined>>();
  const snapshot = shareReads(readTables);
  return (socket) => {
    let uid = known.get(socket);
    if (!uid)
      known.set(
        socket,
        (uid = find(socket, { snapshot, readInode }).then((found) => (isRelay(found, kernel) ? undefined : found))),
      );
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

type SocketTables = {
  readonly snapshot: () => Promise<string>;
  readonly readInode: (socket: Socket) => Promise<string | undefined>;
};

async function find(socket: Socket, { snapshot, readInode }: SocketTables): Promise<number | undefined> {
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  const client = { address: plain(remoteAddress), port: remotePort };
  const server = { address: plain(localAddress), port: localPort };
  if (!isLoopback(client.address) || !isLoopback(server.address)) return undefined;
  const inode = await readInode(socket);
  if (inode === undefined) return undefined;
  let uid: number | undefined;
  for (let look = 0; look < maxLooks; look++) {
    const table = await snapshot();
    // Whoever is gone may have left its port to somebody else. While our own end is there, the other one was still the same before.
    if (uid !== undefined && rowOf(table, server, client)?.inode === inode) return uid;
    // Lines move while a long table is read, so that one may be missed.
    uid = uidOf(table, client, server) ?? uid;
  }
  return undefined;
}

/** The number that the kernel's tables have for our end of a connection. */
async function inodeOf(socket: Socket): Promise<string | undefined> {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: number } | null };
  if (handle?.fd === undefined || handle.fd < 0) return undefined;
  const link = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => "");
  return /^socket:\[(\d+)\]$/.exec(link)?.[1];
}

/**
 * The user of the client's own end. It must be established and have an inode: what a process has left behind is shown with the
 * number 0, as if it were root's.
 */
export function uidOf(table: string, client: SocketEnd, server: SocketEnd): number | undefined {
  const uid = rowOf(table, client, server)?.uid;
  return uid === unknownUid ? undefined : uid;
}

/** The row of one end of an established connection. */
function rowOf(
  table: string,
  own: SocketEnd,
  other: SocketEnd,
): { readonly uid: number; readonly inode: string } | undefined {
  for (const form of formsOf(own.address, other.address)) {
    const line = `: ${form.own}:${portText(own.port)} ${form.other}:${portText(other.port)} 01 `;
    const at = table.indexOf(line);
    if (at === -1) continue;
    const [, , , uid = "", , inode = ""] = table.slice(at + line.length, at + line.length + 120).split(/\s+/);
    return /^\d+$/.test(uid) && /^[1-9]\d*$/.test(inode) ? { uid: Number(uid), inode } : undefined;
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

/** However many ask, one read goes on and one more waits: each gets one that began after it asked. */
function shareReads(read: () => Promise<string>): () => Promise<string> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<string> | undefined;
  return () =>
    (next ??= running.then(() => {
      next = undefined;
      const reading = read();
      running = reading.catch(() => undefined);
      return reading;
    }));
}

async function readKernelTables(): Promise<string> {
  if (process.platform !== "linux") return "";
  const texts = await Promise.all(tables.map(readTable));
  return texts.join("\n");
}

/** Empty where it can't be read. */
async function readTable(path: string): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      let text = "";
      const piece = Buffer.alloc(pieceBytes);
      while (text.length < maxBytes) {
        const { bytesRead } = await file.read(piece, 0, pieceBytes, null);
        if (bytesRead === 0) break;
        text += piece.toString("latin1", 0, bytesRead);
      }
      return text;
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}
