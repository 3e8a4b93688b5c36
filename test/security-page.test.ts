import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { read, root } from "./doc-pages.ts";

const page = read("docs/security.md");

/** The rows of the table below a heading, without its two first lines. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  return section
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Whether a file has a test of this name that is run: one that is left out for good is none. */
function hasTest(file: string, name: string): boolean {
  const quoted = JSON.stringify(name).slice(1, -1);
  return read(file)
    .split("\n")
    .some(
      (line) =>
        /^\s*test\(/.test(line) &&
        (line.includes(`"${quoted}"`) || line.includes(`'${name}'`) || line.includes(`\`${name}\``)),
    );
}

test("each threat has a wall that a test tries, by the name it says", () => {
  const rows = rowsBelow("The threat model");
  assert.ok(rows.length >= 12, `${rows.length} rows`);
  for (const row of rows) {
    const [attacker = "", wants = "", wall = "", tests = ""] = row;
    assert.equal(row.length, 5, attacker);
    assert.ok(attacker && wants && wall, attacker);
    const named = [...tests.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\)/g)];
    assert.ok(named.length > 0, `${attacker}: no test`);
    for (const [, name, file] of named) assert.ok(hasTest(file!, name!), `${file} has no test: ${name}`);
  }
});

test("every test file that the page names is there", () => {
  const files = [...page.matchAll(/[\w./-]+\.test\.tsx?/g)].map(([file]) => file.replace(/^(\.\.\/)+/, ""));
  assert.ok(files.length > 0);
  for (const file of files) assert.ok(existsSync(join(root, file)), file);
});

test("a report goes to a private advisory, from wherever somebody begins to read", () => {
  for (const file of ["SECURITY.md", "docs/security.md"])
    assert.match(read(file).replaceAll(/\s+/g, " "), /open a private security advisory on the repository/);
  for (const file of ["SECURITY.md", "README.md"]) assert.match(read(file), /\(docs\/security\.md\)/);
});
