import assert from "node:assert/strict";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { closeDataFolder, examineModes } from "./data-modes.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** A data folder whose files and folders everybody may use. */
function openFolder() {
  const data = temporaryFolder("data");
  const made: string[] = [];
  const folder = (path: string) => {
    mkdirSync(join(data, path), { recursive: true });
    chmodSync(join(data, path), 0o777);
    made.push(path);
  };
  const file = (path: string, mode = 0o666) => {
    writeFileSync(join(data, path), "text");
    chmodSync(join(data, path), mode);
    made.push(path);
  };
  for (const path of ["uploads", "uploads/a", "sessions", "logs", "scratch", "scratch/one", "packages"]) folder(path);
  for (const path of ["secret.key", "uploads/a/b", "logs/prompts.log", "sessions/x.md"]) file(path);
  return { data, made, folder, file };
}

test("what others could read in the data folder is closed at a start, however deep it lies", () => {
  const { data, made } = openFolder();
  assert.deepEqual(closeDataFolder(data, { deep: false }), { mended: made.length, open: [] });
  for (const path of made)
    assert.equal(modeOf(join(data, path)), statSync(join(data, path)).isDirectory() ? "700" : "600", path);
  assert.deepEqual(closeDataFolder(data, { deep: false }), { mended: 0, open: [] });
});

test("doctor looks into folders that are closed as well, and says what it has mended", () => {
  const { data, file } = openFolder();
  closeDataFolder(data, { deep: false });
  file("uploads/a/later");
  assert.deepEqual(closeDataFolder(data, { deep: false }).mended, 0, "a start does not: nobody gets there");
  assert.deepEqual(examineModes(data), [
    {
      ...{ grade: "note", about: "files" },
      text: "files and folders of the data folder that other users of this machine could use, closed now: 1",
    },
  ]);
  assert.equal(examineModes(data)[0]!.grade, "ok");
  chmodSync(data, 0o777);
  assert.match(examineModes(data)[0]!.text, /other users can put files into .+: chmod go-w/);
});

test("links are not followed, and what is not the server's stays as it is", () => {
  const { data, file, folder } = openFolder();
  const outside = temporaryFolder("outside");
  writeFileSync(join(outside, "of-another"), "text");
  chmodSync(join(outside, "of-another"), 0o644);
  symlinkSync(outside, join(data, "rag_documents"));
  symlinkSync(join(outside, "of-another"), join(data, "uploads", "link"));
  folder("agents");
  file("agents/mine.md", 0o644);
  file("scratch/one/script.sh", 0o755);
  closeDataFolder(data, { deep: true });
  assert.equal(modeOf(join(outside, "of-another")), "644");
  assert.equal(modeOf(join(data, "agents/mine.md")), "644");
  assert.equal(modeOf(join(data, "scratch/one/script.sh")), "755", "commands decide about their own files");
  assert.equal(modeOf(join(data, "scratch/one")), "700");
});
