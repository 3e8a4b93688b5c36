import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { bubblewrapDriver } from "./drivers/bubblewrap.ts";
import { describePython } from "./python.ts";
import type { Sandbox } from "./sandbox.ts";

const signal = AbortSignal.timeout(100_000);
const interpreter = "/usr/bin/python3";
const sandbox = await bubblewrapDriver()
  .open(signal)
  .catch(() => undefined);
const isHere = sandbox !== undefined && existsSync(interpreter);

suite("the Python of commands", { skip: isHere ? false : "no bubblewrap, or no /usr/bin/python3" }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "colloquy-python-test-"));
  });
  after(async () => {
    await sandbox?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const describe = (named: string | undefined, searchPath = "/usr/bin") =>
    describePython(sandbox as Sandbox, { named, searchPath, signal });

  test("the first of the PATH that is a program, not a script that finds one", async () => {
    const shims = join(folder, "shims");
    await mkdir(shims);
    await writeFile(join(shims, "python3"), "#!/bin/sh\nexec python3\n");
    await chmod(join(shims, "python3"), 0o755);
    const { here, missing, problem } = await describe(undefined, [shims, "", "/no/such", "/usr/bin"].join(delimiter));
    assert.deepEqual([here?.command, here?.mounts, problem], [interpreter, [], undefined]);
    assert.match(here!.version, /^3\.\d+\.\d+$/);
    for (const name of ["pandas", "numpy", "matplotlib", "openpyxl"]) {
      const isThere = here!.packages.some((each) => new RegExp(`^${name} \\d`).test(each));
      assert.equal(missing.includes(name), !isThere, name);
    }
  });

  test("a virtual environment, wherever it lies, by its folder or its interpreter", async () => {
    const environment = join(folder, "environment");
    await mkdir(join(environment, "bin"), { recursive: true });
    await chmod(folder, 0o755);
    await writeFile(join(environment, "pyvenv.cfg"), "home = /usr/bin\ninclude-system-site-packages = false\n");
    await symlink(interpreter, join(environment, "bin", "python3"));
    const command = join(environment, "bin", "python3");
    for (const named of [environment, command]) {
      const { here, problem } = await describe(named);
      assert.equal(problem, undefined);
      assert.deepEqual(here, {
        command,
        version: here!.version,
        packages: [],
        mounts: [{ source: environment, target: environment }],
      });
      assert.deepEqual((await describe(named)).missing, ["pandas", "numpy", "matplotlib", "openpyxl"]);
    }
  });

  test("what is no Python is said, and by which name it was looked for", async () => {
    assert.match((await describe("/no/such")).problem ?? "", /interpreter \/no\/such not found/);
    assert.match((await describe("python9")).problem ?? "", /python9 is not installed/);
    assert.match((await describe("/bin/ls")).problem ?? "", /\/bin\/ls is no Python 3/);
  });
});
