import assert from "node:assert/strict";
import { test } from "node:test";
import { seccompFilter } from "./seccomp.ts";

const [allow, refuse] = [0x7fff_0000, 0x0005_0000];
const [eperm, enosys, noFamily] = [refuse | 1, refuse | 38, refuse | 97];

type SystemCall = { readonly architecture: number; readonly number: number; readonly arguments?: readonly number[] };

/** What the kernel would do: the few instructions that a filter has. */
function answerOf(filter: Buffer, { architecture, number, arguments: given = [] }: SystemCall): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of given.entries()) data.writeUInt32LE(value, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const [code, ifTrue, ifFalse, value] = [
      filter.readUInt16LE(at),
      filter.readUInt8(at + 2),
      filter.readUInt8(at + 3),
      filter.readUInt32LE(at + 4),
    ];
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else {
      const isTrue = { 0x15: loaded === value, 0x35: loaded >= value, 0x45: (loaded & value) !== 0 }[code];
      assert.notEqual(isTrue, undefined, `instruction ${code}`);
      at += 8 * (isTrue ? ifTrue : ifFalse);
    }
  }
}

const machines = {
  x64: {
    architecture: 0xc000_003e,
    calls: { read: 0, ptrace: 101, mount: 165, clone: 56, clone3: 435, ioctl: 16, socket: 41 },
  },
  arm64: {
    architecture: 0xc000_00b7,
    calls: { read: 63, ptrace: 117, mount: 40, clone: 220, clone3: 435, ioctl: 29, socket: 198 },
  },
};

for (const [name, { architecture, calls }] of Object.entries(machines)) {
  test(`what it answers on ${name}`, () => {
    const filter = seccompFilter(name) ?? assert.fail();
    const answer = (number: number, ...given: number[]) => answerOf(filter, { architecture, number, arguments: given });
    assert.equal(answer(calls.read, 0), allow);
    assert.equal(answer(calls.ptrace), eperm);
    assert.equal(answer(calls.mount), eperm);
    assert.equal(answer(calls.clone3), enosys);
    // A process, a thread; a user's and a network's namespace.
    assert.deepEqual(
      [17, 0x003d_0f00].map((flags) => answer(calls.clone, flags)),
      [allow, allow],
    );
    assert.deepEqual(
      [0x1000_0011, 0x4000_0011].map((flags) => answer(calls.clone, flags)),
      [eperm, eperm],
    );
    // TCGETS; TIOCSTI, TIOCLINUX.
    assert.deepEqual(
      [0x5401, 0x5412, 0x541c].map((request) => answer(calls.ioctl, 0, request)),
      [allow, eperm, eperm],
    );
    // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK; AF_PACKET, AF_ALG, AF_VSOCK.
    assert.deepEqual(
      [1, 2, 10, 16].map((family) => answer(calls.socket, family)),
      [allow, allow, allow, allow],
    );
    assert.deepEqual(
      [17, 38, 40].map((family) => answer(calls.socket, family)),
      [noFamily, noFamily, noFamily],
    );
  });

  test(`another table of calls is refused whole on ${name}`, () => {
    const filter = seccompFilter(name) ?? assert.fail();
    assert.equal(answerOf(filter, { architecture: 0x4000_0003, number: 3 }), eperm);
    if (name === "x64") assert.equal(answerOf(filter, { architecture, number: 0x4000_0000 }), eperm);
  });
}

test("none for a processor without a table", () => {
  assert.equal(seccompFilter("riscv64"), undefined);
});
