import assert from "node:assert/strict";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { createSpace } from "../workspace/space.ts";
import { trimWorkspace } from "./trim-workspace.ts";

const megabyte = 1024 ** 2;
const signal = AbortSignal.timeout(60_000);

/** A workspace in which a call begins, writes with the given files there before, and loses what was too much. */
async function cutAfter(before: (at: (name: string) => string) => void, write: (at: (name: string) => string) => void) {
  const folder = temporaryFolder("cut");
  const outside = temporaryFolder("outside");
  writeFileSync(join(outside, "kept"), "kept");
  const at = (name: string) => (name.startsWith("outside/") ? join(outside, name.slice(8)) : join(folder, name));
  before(at);
  const space = createSpace({ most: { bytes: 8 * megabyte, entries: 30 } });
  const call = { pids: async () => [], stop: () => {} };
  const { account, release } = await space.begin(call, folder, { most: {}, signal });
  write(at);
  const lost = await trimWorkspace(account);
  release();
  assert.equal(readFileSync(join(outside, "kept"), "utf8"), "kept");
  return { lost: lost.map(({ path, change }) => `${path} ${change}`), left: readdirSync(folder).toSorted(), at };
}

const large = (megabytes: number) => Buffer.alloc(megabytes * megabyte, 1);

/** The kernel's clock for files goes in steps. */
function newerThan(one: string, other: string): void {
  do utimesSync(other, 1, 1);
  while (statSync(other).ctimeMs <= statSync(one).ctimeMs);
}

test("the newest that are new go first, and only until there is room", async () => {
  const { lost, left, at } = await cutAfter(
    (at) => writeFileSync(at("old"), "old"),
    (at) => {
      writeFileSync(at("first"), large(5));
      writeFileSync(at("second"), large(2));
      writeFileSync(at("third"), large(2));
      // A time that it sets itself helps nobody, and neither does another name for what is old.
      newerThan(at("second"), at("third"));
      renameSync(at("old"), at("moved"));
    },
  );
  assert.deepEqual(lost, ["third removed"]);
  assert.deepEqual(left, ["first", "moved", "second"]);
  assert.equal(readFileSync(at("moved"), "utf8"), "old");
});

test("what is old is never shorter than it was, and what took its place is not longer", async () => {
  const { lost, at } = await cutAfter(
    (at) => {
      writeFileSync(at("log"), large(1));
      writeFileSync(at("replaced"), large(1));
      writeFileSync(at("hole"), "");
      truncateSync(at("hole"), 2 * megabyte);
    },
    (at) => {
      writeFileSync(at("part"), large(3));
      renameSync(at("part"), at("replaced"));
      appendFileSync(at("log"), large(5));
      writeFileSync(at("hole"), large(2), { flag: "r+" });
      newerThan(at("replaced"), at("log"));
      newerThan(at("log"), at("hole"));
    },
  );
  assert.deepEqual(lost, ["hole changed", "log changed"]);
  assert.deepEqual(readFileSync(at("hole")), Buffer.alloc(2 * megabyte));
  assert.deepEqual(readFileSync(at("log")), large(1));
  assert.equal(readFileSync(at("replaced")).length, 3 * megabyte);
});

test("links lead nowhere, and further names of what is old go before the last of it", async () => {
  const { left, at } = await cutAfter(
    (at) => writeFileSync(at("old"), "old"),
    (at) => {
      symlinkSync(at("outside/"), at("link"));
      mkdirSync(at("folder"));
      writeFileSync(at("folder/large"), large(9));
      for (let index = 0; index < 60; index++) linkSync(at("old"), at(`name${index}`));
      unlinkSync(at("old"));
    },
  );
  assert.ok(left.length <= 30 && left.length > 0, String(left.length));
  assert.equal(readFileSync(at(left.find((name) => name.startsWith("name"))!), "utf8"), "old");
});
