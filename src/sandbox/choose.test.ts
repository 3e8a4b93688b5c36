import assert from "node:assert/strict";
import { test } from "node:test";
import { bubblewrapDriver } from "./bubblewrap.ts";
import { createSandboxSource, openSandbox } from "./choose.ts";
import { type Sandbox, type SandboxDriver, SandboxUnusable } from "./sandbox.ts";
import { unsafeNativeDriver } from "./unsafe-native.ts";

const signal = AbortSignal.timeout(60_000);

/** What keeps nothing from this machine, under another name and with better promises. */
function boasting(name: SandboxDriver["name"], change: Partial<Sandbox> = {}): SandboxDriver {
  return {
    name,
    async open(opening) {
      const sandbox = await unsafeNativeDriver().open(opening);
      return { ...sandbox, ...change, report: { ...sandbox.report, driver: name, grade: "strong", gaps: [] } };
    },
  };
}

const absent = (name: SandboxDriver["name"]): SandboxDriver => ({
  name,
  open: () => Promise.reject(new SandboxUnusable("it is not there")),
});

test("auto takes the first that shows what it promises, and says why not the others", async () => {
  let closed = 0;
  const close = () => Promise.resolve(void (closed += 1));
  const source = createSandboxSource({
    kind: "auto",
    drivers: [boasting("docker", { close }), absent("podman"), bubblewrapDriver(), boasting("landlock")],
  });
  assert.equal(source.known(), undefined);
  const state = await source.state();
  // Each machine has another end of the list; a sandbox that only boasts is never it.
  assert.ok(["bubblewrap", "none"].includes(state.driver));
  assert.deepEqual(source.known(), state);
  await source.close();

  const boasts = createSandboxSource({ kind: "auto", drivers: [boasting("docker", { close }), absent("podman")] });
  assert.deepEqual(await boasts.state(), {
    driver: "none",
    grade: "none",
    gaps: [],
    tried: [
      { driver: "docker", reason: "a command could read a file of this machine" },
      { driver: "podman", reason: "it is not there" },
    ],
  });
  assert.equal(closed, 1);
  await assert.rejects(boasts.open(), /no sandbox.*docker: a command could read.*podman: it is not there/);
});

test("a driver that is named is taken or nothing, and tried all the same", async () => {
  const drivers = [boasting("docker"), unsafeNativeDriver()];
  await assert.rejects(openSandbox({ kind: "docker", drivers, signal }), SandboxUnusable);
  const native = await openSandbox({ kind: "unsafe-native", drivers, signal });
  assert.deepEqual([native.report.driver, native.report.grade], ["unsafe-native", "none"]);
  await native.close();
});

test("what gives no protection is never taken unasked, and none is none", async () => {
  const drivers = [unsafeNativeDriver()];
  await assert.rejects(openSandbox({ kind: "auto", drivers, signal }), SandboxUnusable);
  await assert.rejects(openSandbox({ kind: "none", drivers, signal }), /switched off here/);
});

test("a source that is closed opens nothing more", async () => {
  const source = createSandboxSource({ kind: "auto", drivers: [bubblewrapDriver()] });
  const opening = source.open();
  await Promise.all([source.close(), opening.then((sandbox) => sandbox.close()).catch(() => {})]);
  await source.release("/nowhere");
});
