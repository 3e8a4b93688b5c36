/** Each fixture says in its first line what the lint must find in it: a gate that finds nothing is no gate. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "..");
const house = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-lint-")));
after(() => rmSync(house, { recursive: true }));

// The fixtures as a house of their own, under the real configuration: its patterns name paths from the root.
for (const room of ["src", "web"]) cpSync(join(root, "lint", "fixtures", room), join(house, room), { recursive: true });
cpSync(join(root, "lint", "layers.mjs"), join(house, "lint", "layers.mjs"), { recursive: true });
cpSync(join(root, ".oxlintrc.json"), join(house, ".oxlintrc.json"));
symlinkSync(join(root, "node_modules"), join(house, "node_modules"));
writeFileSync(
  join(house, "src", "run", "log", "long.ts"),
  `// must fail: eslint(max-lines)\n${"export {};\n".repeat(400)}`,
);

writeFileSync(
  join(house, "src", "run", "log", "long-function.ts"),
  `// must fail: eslint(max-lines-per-function)\nexport function long(lines: string[]) {\n${"  lines.push();\n".repeat(120)}}\n`,
);

const found = lint();

for (const file of globSync("{src,web}/**/*.{ts,tsx}", { cwd: house }).sort()) {
  const [firstLine] = readFileSync(join(house, file), "utf8").split("\n", 1);
  const expected = /^\/\/ must (?:pass|fail: (.+))$/.exec(firstLine);
  test(`${file} ${firstLine.slice(3, 12)}`, () => {
    assert.ok(expected, "its first line must say what is expected");
    assert.deepEqual(found.get(file) ?? [], (expected[1]?.split(" ") ?? []).sort());
  });
}

test("every rule that is on has a fixture that fails", () => {
  const { rules } = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8"));
  const seen = new Set(
    [...found.values()].flat().map((code) => code.replace(/^eslint\((.+)\)$/, "$1").replace(/\((.+)\)$/, "/$1")),
  );
  assert.deepEqual(
    Object.keys(rules).filter((rule) => !seen.has(rule)),
    [],
  );
});

/** The rules that were broken, by file. */
function lint() {
  const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint");
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, "--format=json", "src", "web"], {
    cwd: house,
    encoding: "utf8",
  });
  assert.match(stdout, /^\{/, `oxlint gave no report: ${stdout}${stderr}`);
  const files = Map.groupBy(JSON.parse(stdout).diagnostics, ({ filename }) => filename);
  return new Map([...files].map(([file, diagnostics]) => [file, diagnostics.map(({ code }) => code).sort()]));
}
