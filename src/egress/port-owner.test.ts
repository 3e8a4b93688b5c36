import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { skipStranger, stranger } from "../../test/left-out.ts";
import { isOtherUsersPort, listenersAt } from "./port-owner.ts";

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const line = (address: string, state: string, uid: number) =>
  `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 4711 1 0 100 0 0 10 0`;

test("who listens at a port is told from who is only connected to it, over IPv4 and IPv6", () => {
  const wide = "00000000000000000000000000000000:2CAA";
  const table = [head, line("0100007F:2CAA", "0A", 1002), line("0100007F:2CAA", "01", 7), line(wide, "0A", 1003)];
  assert.deepEqual(listenersAt(11_434, table.join("\n")), [1002, 1003]);
  assert.deepEqual(listenersAt(11_435, table.join("\n")), []);
});

test("a service's and root's port is nobody's, one of another person is", async () => {
  const of = (uid: number) => isOtherUsersPort(11_434, async () => line("0100007F:2CAA", "0A", uid));
  for (const uid of [0, 113, 999, 65_534, process.geteuid!()]) assert.equal(await of(uid), false, String(uid));
  assert.equal(await of(54_321), true);
  assert.equal(await isOtherUsersPort(11_434, async () => ""), false, "what can't be told is not refused");
});

test("a port that another user of this machine has taken", { skip: skipStranger }, async () => {
  const code = `require("net").createServer().listen(0, "127.0.0.1", function () { console.log(this.address().port) })`;
  const child = spawn("/usr/bin/env", ["node", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
    ...stranger,
  });
  try {
    const [port] = await once(child.stdout, "data");
    assert.equal(await isOtherUsersPort(Number(String(port))), true);
  } finally {
    child.kill();
  }
  const own = createServer().listen(0, "127.0.0.1");
  await once(own, "listening");
  assert.equal(await isOtherUsersPort((own.address() as AddressInfo).port), false);
  own.close();
});
