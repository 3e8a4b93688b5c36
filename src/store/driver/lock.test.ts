import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { readHolder, takeLock } from "./lock.ts";

describe("the lock of a data directory", () => {
  test("is held once, also within a process, and free again after release", () => {
    const folder = temporaryFolder("lock");
    const lock = takeLock(folder);
    assert.throws(() => takeLock(folder), { code: "data_in_use", message: new RegExp(`process ${process.pid}\\.$`) });
    lock.announce({ url: "http://127.0.0.1:1" });
    assert.throws(() => takeLock(folder), { message: /which serves http:\/\/127\.0\.0\.1:1\.$/ });
    lock.release();
    lock.release();
    takeLock(folder).release();
  });

  test("tells who holds it, and looking takes nothing away", () => {
    const folder = temporaryFolder("lock");
    assert.equal(readHolder(folder), undefined);
    const lock = takeLock(folder);
    const { started, ...holder } = readHolder(folder) ?? {};
    assert.deepEqual(holder, { pid: process.pid, token: lock.token });
    assert.ok(!Number.isNaN(Date.parse(started!)));
    assert.equal(readHolder(folder)?.pid, process.pid);
    assert.throws(() => takeLock(folder), { code: "data_in_use" });
    lock.release();
    assert.equal(readHolder(folder), undefined);
  });

  test("what a killed process left behind is no holder", () => {
    const folder = temporaryFolder("lock");
    takeLock(folder).release();
    writeFileSync(join(folder, "holder.json"), JSON.stringify({ pid: 1, url: "http://gone" }));
    assert.equal(readHolder(folder), undefined);
  });

  test("the token is new each time, and only for this operating-system user", () => {
    const folder = temporaryFolder("lock");
    writeFileSync(join(folder, "token"), "old", { mode: 0o644 });
    const lock = takeLock(folder);
    assert.equal(statSync(join(folder, "token")).mode & 0o777, 0o600);
    lock.release();
    const next = takeLock(folder);
    assert.notEqual(next.token, lock.token);
    next.release();
  });

  test("is the kernel's: free at once when its process is killed", async () => {
    const folder = temporaryFolder("lock");
    const module = JSON.stringify(join(import.meta.dirname, "lock.ts"));
    const code = `(await import(${module})).takeLock(${JSON.stringify(folder)}); console.log("held"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    assert.throws(() => takeLock(folder), { message: new RegExp(`process ${child.pid}\\.$`) });
    child.kill("SIGKILL");
    await exited;
    takeLock(folder).release();
  });
});
