import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { temporaryFolder } from "../../test/pglite.ts";
import { tarOf, type TarFile } from "./tar.ts";

test("names of any length and script, sizes around a block, and files that are shorter or longer than they were", async () => {
  const lengths = [1, 80, 84, 99, 100, 101, 102, 190, 250];
  const names = lengths.flatMap((length) => ["x".repeat(length), `${"ü".repeat(Math.ceil(length / 2.1))}${length}`]);
  const sizes = [0, 1, 511, 512, 513, 70_000];
  const files = names.flatMap((name, at) => ({ name: `d/${name}`, bytes: sizes[at % sizes.length]! }));
  async function* all(): AsyncGenerator<TarFile> {
    for (const { name, bytes } of files)
      yield { name, bytes, modified: new Date(1e12), content: [Buffer.alloc(bytes, "a")] };
    yield { name: "shorter", bytes: 600, modified: new Date(), content: [Buffer.from("abc")] };
    yield { name: "longer", bytes: 3, modified: new Date(), content: [Buffer.from("ab"), Buffer.from("cdef")] };
    yield { name: "last", bytes: 1, modified: new Date(), content: [Buffer.from("!")] };
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of tarOf(all())) pieces.push(piece);
  const folder = temporaryFolder("tar");
  writeFileSync(join(folder, "a.tar"), Buffer.concat(pieces));
  await promisify(execFile)("tar", ["-xf", "a.tar"], { cwd: folder });
  const read = (name: string) => readFileSync(join(folder, name));
  for (const { name, bytes } of files) assert.ok(read(name).equals(Buffer.alloc(bytes, "a")), name);
  assert.equal(globSync("d/*", { cwd: folder }).length, files.length);
  assert.deepEqual(read("shorter"), Buffer.concat([Buffer.from("abc"), Buffer.alloc(597)]));
  assert.deepEqual([read("longer").toString(), read("last").toString()], ["abc", "!"]);
});
