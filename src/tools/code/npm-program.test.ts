import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { findNpmProgram } from "./npm-program.ts";

const findNanocoder = (named: string | undefined, searchPath: string) =>
  findNpmProgram("nanocoder", { named, searchPath });

/** As npm puts it there with `-g`. */
async function installed(): Promise<{ readonly bin: string; readonly modules: string; readonly program: string }> {
  const folder = temporaryFolder("nanocoder");
  const modules = join(folder, "lib/node_modules");
  const own = join(modules, "@nanocollective/nanocoder");
  const program = join(own, "dist/cli.js");
  const bin = join(folder, "bin");
  for (const each of [join(own, "dist"), bin]) await mkdir(each, { recursive: true });
  await writeFile(program, "");
  await writeFile(join(own, "package.json"), JSON.stringify({ version: "1.30.0", bin: { nanocoder: "dist/cli.js" } }));
  await symlink(program, join(bin, "nanocoder"));
  return { bin, modules, program };
}

test("it is found in the PATH, by its program and by its folder, with all that it imports", async () => {
  const { bin, modules, program } = await installed();
  const expected = { program, root: modules, version: "1.30.0" };
  const own = join(modules, "@nanocollective/nanocoder");
  assert.deepEqual(await findNanocoder(undefined, `/nowhere:${bin}`), expected);
  for (const named of [join(bin, "nanocoder"), program, own])
    assert.deepEqual(await findNanocoder(named, ""), expected);
});

test("what is not there, or is no program for Node.js, is not found", async () => {
  const { bin, modules } = await installed();
  assert.equal(await findNanocoder(undefined, "/nowhere"), undefined);
  assert.equal(await findNanocoder(join(bin, "other"), bin), undefined);
  assert.equal(await findNanocoder("other", bin), undefined);
  await mkdir(join(modules, "empty"));
  await writeFile(join(modules, "empty/package.json"), JSON.stringify({ version: "1.0.0" }));
  assert.equal(await findNanocoder(join(modules, "empty"), ""), undefined);
  await writeFile(join(modules, "empty/package.json"), "{");
  assert.equal(await findNanocoder(join(modules, "empty"), ""), undefined);
});
