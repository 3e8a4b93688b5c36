import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { endianness } from "node:os";
import { test } from "node:test";
import { createPeerUid, ownersOf, uidOf } from "./loopback-peer.ts";

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
    async readTable() {
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
  assert.equal(reads, 1);
});

test("who asks while a reading goes on waits for one that began later", { skip: skipTables }, async () => {
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let reads = 0;
  const peerUid = createPeerUid({ readTable: () => gates[reads++]!.promise });
  const first = peerUid(socket());
  while (reads === 0) await Promise.resolve();
  const second = peerUid(socket());
  gates[0]!.resolve(table({ uid: 1000 }));
  assert.equal(await first, 1000);
  gates[1]!.resolve(table({ uid: 1001 }));
  assert.equal(await second, 1001);
});

test(
  "a shared reading holds up the next one by what it has saved, a lone one by nothing",
  { skip: skipTables },
  async () => {
    let time = 0;
    const pauses: number[] = [];
    let goOn = Promise.withResolvers<void>();
    const peerUid = createPeerUid({
      async readTable() {
        time += 4;
        return table({});
      },
      clock: {
        now: () => time,
        pause(milliseconds) {
          pauses.push(milliseconds);
          return goOn.promise;
        },
      },
    });
    const ask = (count: number) => Promise.all(Array.from({ length: count }, () => peerUid(socket())));
    for (let alone = 0; alone < 3; alone++) await ask(1);
    assert.deepEqual({ time, pauses }, { time: 12, pauses: [] });
    await ask(3);
    const held = ask(2);
    await new Promise(setImmediate);
    assert.deepEqual({ time, pauses }, { time: 16, pauses: [8] }, "two more were asked for and spared");
    const joined = ask(98);
    goOn.resolve();
    goOn = Promise.withResolvers();
    await Promise.all([held, joined]);
    assert.deepEqual({ time, pauses }, { time: 20, pauses: [8, 100] });
  },
);

test("the relay of WSL is nobody: it runs as root for every user of Windows", { skip: skipTables }, async () => {
  const of = (uid: number, kernel: string) =>
    createPeerUid({ readTable: async () => table({ uid }), kernel })(socket());
  assert.equal(await of(0, "6.6.87.2-microsoft-standard-WSL2"), undefined);
  assert.equal(await of(1000, "6.6.87.2-microsoft-standard-WSL2"), 1000);
  assert.equal(await of(0, "6.12.0-generic"), 0);
});

const client = { address: "127.0.0.1", port: 0xa001 };
const server = { address: "127.0.0.1", port: 8000 };
/** One that is open, as the kernel says. */
const socket = () =>
  ({
    remoteAddress: client.address,
    remotePort: client.port,
    localAddress: server.address,
    localPort: server.port,
    _handle: { getpeername: () => 0 },
  }) as unknown as Socket;

test("a port that another program has got meanwhile tells nothing", { skip }, async (t) => {
  // Our end is not read, so that only the kernel knows that it is closed.
  const ends: Socket[] = [];
  const listening = createServer({ pauseOnConnect: true }, (end) => ends.push(end)).listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const accepted = once(listening, "connection");
  // An address that nobody else uses: whoever left a port of another one a moment ago would keep it from being taken again.
  const localAddress = "127.0.20.26";
  const first = connect({ port, host: "127.0.0.1", localAddress });
  // Only one that knows that it is connected is reset; any other end keeps its port for a while.
  const [[own]] = (await Promise.all([accepted, once(first, "connect")])) as [[Socket], unknown];
  const from = { address: localAddress, port: own.remotePort! };
  let later: Socket | undefined;
  t.after(() => {
    for (const end of [first, later, ...ends]) end?.destroy();
    listening.close();
  });
  const peerUid = createPeerUid({
    async readTable(name) {
      if (!later) {
        first.resetAndDestroy();
        await once(first, "close");
        later = connect({ port, host: "127.0.0.1", localAddress, localPort: from.port });
        await once(later, "connect");
      }
      const text = await readFile(`/proc/net/${name}`, "latin1");
      assert.equal(
        uidOf(ownersOf(text), from, { address: "127.0.0.1", port }),
        process.geteuid?.(),
        "the other one is there",
      );
      return text;
    },
  });
  assert.equal(await peerUid(own), undefined);
});

test(
  "a line that is missed is looked for again, and where a client of IPv6 speaks IPv4",
  { skip: skipTables },
  async () => {
    const of = async (texts: readonly string[]) => {
      const names: string[] = [];
      const readTable = async (name: string) => texts[names.push(name) - 1] ?? "";
      return { uid: await createPeerUid({ readTable })(socket()), names };
    };
    assert.deepEqual(await of(["", "", table({})]), { uid: 1000, names: ["tcp", "tcp6", "tcp"] });
    assert.deepEqual(await of([]), { uid: undefined, names: ["tcp", "tcp6", "tcp", "tcp6"] });
  },
);

/** The kernel's table with both ends of one connection. */
function table({ uid = 1000, state = "01", inode = 4711 }): string {
  const rest = (who: number, node: number) => `00000000:00000000 00:00000000 00000000 ${who}        0 ${node} 1 0000`;
  return [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    `   0: 0100007F:1F40 00000000:0000 0A ${rest(7, 10)}`,
    `   1: 0100007F:1F40 0100007F:A001 01 ${rest(7, 11)}`,
    `   2: 0100007F:A001 0100007F:1F40 ${state} ${rest(uid, inode)}`,
  ].join("\n");
}

test("of the two ends it is the client's that counts", { skip: skipTables }, () => {
  assert.equal(uidOf(ownersOf(table({})), client, server), 1000);
  assert.equal(uidOf(ownersOf(table({ uid: 0 })), client, server), 0);
  assert.equal(uidOf(ownersOf(table({})), { ...client, port: 0xa002 }, server), undefined);
});

test("what a process left behind, and a user that is not known here, are nobody", { skip: skipTables }, () => {
  for (const left of [{ state: "06", uid: 0, inode: 0 }, { state: "05", uid: 0 }, { uid: 0, inode: 0 }, { uid: 65534 }])
    assert.equal(uidOf(ownersOf(table(left)), client, server), undefined, JSON.stringify(left));
});
