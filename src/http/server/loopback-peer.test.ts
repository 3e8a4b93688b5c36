import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { endianness } from "node:os";
import { test } from "node:test";
import { createPeerUid, uidOf } from "./loopback-peer.ts";

const skip = process.platform !== "linux" && "only Linux tells";
/** The tables below are those of a machine that holds numbers so. */
const skipTables = endianness() !== "LE" && "the tables are of another machine";

test("the peer of a loopback connection is this user, over IPv4, IPv6 and IPv4 in IPv6", { skip }, async () => {
  for (const [listens, connects] of [
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "::1"],
    ["::", "127.0.0.1"],
    ["127.0.0.1", "::ffff:127.0.0.1"],
  ] as const) {
    const server = createServer().listen(0, listens);
    await once(server, "listening");
    const client = connect((server.address() as AddressInfo).port, connects);
    const [socket] = (await once(server, "connection")) as [Socket];
    const uid = await createPeerUid()(socket);
    client.destroy();
    server.close();
    assert.equal(uid, process.geteuid?.(), `${connects} at ${listens}`);
  }
});

test("a connection is looked up once, and what asks meanwhile shares a reading", { skip: skipTables }, async () => {
  let reads = 0;
  const gate = Promise.withResolvers<void>();
  const peerUid = createPeerUid({
    readInode,
    async readTables() {
      reads++;
      await gate.promise;
      return table({ uid: 1000 });
    },
  });
  const sockets = Array.from({ length: 50 }, socket);
  const asked = sockets.map(peerUid);
  gate.resolve();
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([1000]));
  await Promise.all(sockets.map(peerUid));
  assert.ok(reads <= 4, String(reads));
});

test("the relay of WSL is nobody: it runs as root for every user of Windows", { skip: skipTables }, async () => {
  const of = (uid: number, kernel: string) =>
    createPeerUid({ readInode, readTables: async () => table({ uid }), kernel })(socket());
  assert.equal(await of(0, "6.6.87.2-microsoft-standard-WSL2"), undefined);
  assert.equal(await of(1000, "6.6.87.2-microsoft-standard-WSL2"), 1000);
  assert.equal(await of(0, "6.12.0-generic"), 0);
});

const client = { address: "127.0.0.1", port: 0xa001 };
const server = { address: "127.0.0.1", port: 8000 };
const socket = () =>
  ({
    remoteAddress: client.address,
    remotePort: client.port,
    localAddress: server.address,
    localPort: server.port,
  }) as Socket;

/** Of our own end in the table below. */
const readInode = async () => "11";

test("a port that another program has got meanwhile tells nothing", { skip: skipTables }, async () => {
  const of = (inodes: readonly number[]) => {
    const left = [...inodes];
    const next = () => (left.length > 1 ? left.shift() : left[0]);
    return createPeerUid({ readInode, readTables: async () => table({ own: next()! }) })(socket());
  };
  assert.equal(await of([11, 11]), 1000);
  assert.equal(await of([11, 12]), undefined, "our end is gone, and another one is in its place");
  assert.equal(
    await createPeerUid({ readInode: async () => undefined, readTables: async () => table({}) })(socket()),
    undefined,
  );
});

/** The kernel's table with both ends of one connection. */
function table({ uid = 1000, state = "01", inode = 4711, own = 11 }): string {
  const rest = (who: number, node: number) => `00000000:00000000 00:00000000 00000000 ${who}        0 ${node} 1 0000`;
  return [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    `   0: 0100007F:1F40 00000000:0000 0A ${rest(7, 10)}`,
    `   1: 0100007F:1F40 0100007F:A001 01 ${rest(7, own)}`,
    `   2: 0100007F:A001 0100007F:1F40 ${state} ${rest(uid, inode)}`,
  ].join("\n");
}

test("of the two ends it is the client's that counts", { skip: skipTables }, () => {
  assert.equal(uidOf(table({}), client, server), 1000);
  assert.equal(uidOf(table({ uid: 0 }), client, server), 0);
  assert.equal(uidOf(table({}), { ...client, port: 0xa002 }, server), undefined);
});

test("what a process left behind, and a user that is not known here, are nobody", { skip: skipTables }, () => {
  for (const left of [{ state: "06", uid: 0, inode: 0 }, { state: "05", uid: 0 }, { uid: 0, inode: 0 }, { uid: 65534 }])
    assert.equal(uidOf(table(left), client, server), undefined, JSON.stringify(left));
});
