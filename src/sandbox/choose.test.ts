import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandboxSource, openSandbox } from "./choose.ts";
import { type Sandbox, type SandboxDriver, type SandboxReport, SandboxUnusable } from "./sandbox.ts";
import { unsafeNativeDriver } from "./drivers/unsafe-native.ts";

const signal = AbortSignal.timeout(60_000);

const promised = (name: SandboxDriver["name"]): SandboxReport => ({
  driver: name,
  grade: "strong",
  gaps: [],
  runsPrograms: true,
  mounts: false,
  relay: false,
});

/** What keeps nothing from this machine, under another name and with better promises. */
const boasting = (name: SandboxDriver["name"]): SandboxDriver => ({
  name,
  open: async (opening) => ({ ...(await unsafeNativeDriver().open(opening)), report: promised(name) }),
});

/** What lets nothing out, on any machine: of a script it does nothing but `echo`. */
const keeping = (name: SandboxDriver["name"]): SandboxDriver => ({
  name,
  open: () =>
    Promise.resolve({
      report: promised(name),
      run({ argv, onOutput }) {
        const text = /^echo (.*\n)/m.exec(argv.at(-1) ?? "")?.[1] ?? "";
        onOutput?.(text, "stdout");
        const captured = (said: string) => ({ text: said, bytes: said.length, omittedBytes: 0 });
        const end = { stdout: captured(text), stderr: captured(""), durationMs: 0 };
        return Promise.resolve({ end: "aborted", exitCode: undefined, ...end });
      },
      release: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }),
});

/** How often it was opened and closed. */
function counted(driver: SandboxDriver) {
  const counts = {
    opened: 0,
    closed: 0,
    driver: {
      name: driver.name,
      async open(opening: AbortSignal): Promise<Sandbox> {
        counts.opened += 1;
        const sandbox = await driver.open(opening);
        return { ...sandbox, close: () => sandbox.close().finally(() => (counts.closed += 1)) };
      },
    },
  };
  return counts;
}

const absent = (name: SandboxDriver["name"]): SandboxDriver => ({
  name,
  open: () => Promise.reject(new SandboxUnusable("it is not there")),
});

test("auto takes the first in its order that shows what it promises, and says why not those before it", async () => {
  const [boaster, later] = [counted(boasting("bubblewrap")), counted(keeping("landlock"))];
  const source = createSandboxSource({
    kind: "auto",
    drivers: [later.driver, keeping("podman"), absent("docker"), boaster.driver],
  });
  assert.equal(source.known(), undefined);
  const state = await source.state();
  assert.equal(state.driver, "podman");
  assert.deepEqual(state.tried, [
    { driver: "bubblewrap", reason: "a command could read a file of this machine" },
    { driver: "docker", reason: "it is not there" },
  ]);
  assert.deepEqual(source.known(), state);
  assert.deepEqual([boaster.opened, boaster.closed, later.opened], [1, 1, 0]);
  await source.close();
});

test("auto takes nothing where nothing shows what it promises, and says why", async () => {
  const boaster = counted(boasting("docker"));
  const boasts = createSandboxSource({ kind: "auto", drivers: [boaster.driver, absent("podman")] });
  assert.deepEqual(await boasts.state(), {
    driver: "none",
    grade: "none",
    gaps: [],
    tried: [
      { driver: "docker", reason: "a command could read a file of this machine" },
      { driver: "podman", reason: "it is not there" },
    ],
  });
  assert.equal(boaster.closed, 1);
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
  const source = createSandboxSource({ kind: "auto", drivers: [keeping("bubblewrap")] });
  const opening = source.open();
  await Promise.all([source.close(), opening.then((sandbox) => sandbox.close()).catch(() => {})]);
  await source.release("/nowhere");
});
