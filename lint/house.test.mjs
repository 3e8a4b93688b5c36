/** Each wall that needs the whole tree, with a house in which it is broken. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { examineHouse } from "./house.mjs";

const sound = {
  "package.json": '{ "dependencies": { "used": "1.0.0", "styled": "1.0.0" } }',
  "README.md": "[main](src/main.ts), `src/run/turn.ts`, [elsewhere](https://example.org/src/none.ts), `src/<name>.ts`",
  "src/main.ts":
    'import { turn } from "./run/turn.ts";\nimport { used } from "used";\nexport const main = [turn, used];\n',
  "src/run/turn.ts": "export const turn = 1;\n",
  "web/page.css": '@import "styled";\n',
};

const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

const broken = [
  {
    name: "a circle that a type closes",
    files: {
      "src/run/a.ts": 'import type { B } from "./b.ts";\nexport type A = B;\n',
      "src/run/b.ts": 'import type { A } from "./a.ts";\nexport type B = A;\n',
    },
    problem: "circle of imports: src/run/a.ts → src/run/b.ts → src/run/a.ts",
  },
  {
    name: "a circle that import() closes",
    files: {
      "src/run/a.ts": 'import { b } from "./b.ts";\nexport const a = b;\n',
      "src/run/b.ts": 'export const b = () => import("./a.ts");\n',
    },
    problem: "circle of imports: src/run/a.ts → src/run/b.ts → src/run/a.ts",
  },
  {
    name: "a circle that the type of an import() closes",
    files: {
      "src/run/a.ts": 'import { b } from "./b.ts";\nexport const a = b;\n',
      "src/run/b.ts": 'export const b: import("./a.ts").A = 1;\n',
    },
    problem: "circle of imports: src/run/a.ts → src/run/b.ts → src/run/a.ts",
  },
  {
    name: "a folder with 31 files; tests are not counted",
    files: Object.fromEntries([
      ...Array.from({ length: 31 }, (_, at) => [`src/tools/tool-${at}.ts`, ""]),
      ["src/tools/tool-1.test.ts", ""],
    ]),
    problem: "src/tools holds 31 files; at most 30",
  },
  {
    name: "a caller that is made an admin by spreading",
    files: { "src/run/a.ts": 'export const asAdmin = (caller) => ({ ...caller, role: "admin" });\n' },
    problem:
      "src/run/a.ts makes a caller with other rights by spreading one; that is for src/protocol/base/callers.ts and src/rooms/room-authority.ts",
  },
  {
    name: "a name that four types have",
    files: Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [`src/run/${name}.ts`, "export type Place = { readonly at: number };\n"]),
    ),
    problem: "4 types are called Place, at most 3: src/run/a.ts, src/run/b.ts, src/run/c.ts, src/run/d.ts",
  },
  {
    name: "26 names that two types have each",
    files: Object.fromEntries(
      ["src/run/a.ts", "web/b.tsx"].map((file) => [file, alphabet.map((each) => `type T${each} = 1;\n`).join("")]),
    ),
    problem: `26 names are given to more than one type, at most 25: ${alphabet.map((each) => `T${each}`).join(", ")}`,
  },
  ...["Asked", "Waiting", "Told"].map((name) => ({
    name: `a type that is called ${name}`,
    files: { "src/run/a.ts": `type ${name} = 1;\ntype ${name}Message = 2;\ntype Finding = 3;\n` },
    problem: `src/run/a.ts calls a type ${name}: a name is a noun, the thing that it is`,
  })),
  {
    name: "six loose files",
    files: Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [`src/${name}.ts`, ""])),
    problem: "src/ holds 6 loose files; at most 5: src/a.ts, src/b.ts, src/c.ts, src/d.ts, src/e.ts, src/main.ts",
  },
  {
    name: "a package that nothing names",
    files: { "package.json": '{ "dependencies": { "used": "1.0.0", "left-over": "1.0.0" } }' },
    problem: "nothing uses the package left-over",
  },
  {
    name: "a package of which only types are taken",
    files: {
      "package.json": '{ "dependencies": { "used": "1.0.0", "typed": "1.0.0" } }',
      "src/run/turn.ts":
        'import type { Typed } from "typed";\nimport { type Other } from "typed";\nexport const turn: Typed | Other = 1;\n',
    },
    problem: "nothing uses the package typed",
  },
  {
    name: "a table that nobody is named to write",
    files: { "src/store/schema/migrations/0099-notes.ts": "export const text = `create table notes (id int)`;\n" },
    problem: "nobody is named to write the table notes (lint/layers.mjs)",
  },
  {
    name: "such a table of the baseline",
    files: { "src/store/schema/baseline/notes.sql": "create table notes (id int);\n" },
    problem: "nobody is named to write the table notes (lint/layers.mjs)",
  },
  {
    name: "a table without a rule for exports",
    files: {
      "src/store/schema/baseline/tasks.sql": "create table tasks (\n  id int\n);\n",
      "src/store/moving/moved-tables.ts": 'export const tables = ["notes"];\n',
    },
    problem: "no rule says what an export does with the table tasks (src/store/moving/moved-tables.ts)",
  },
  {
    name: "a table whose rows no person is told",
    files: {
      "src/store/schema/migrations/0099-tasks.ts": "export const text = `create table tasks (\n  user_id uuid\n)`;\n",
      "src/store/privacy/personal-rows.ts": 'export const from = "notes";\n',
    },
    problem: "no export of a person tells what the table tasks holds (src/store/privacy/personal-rows.ts)",
  },
  {
    name: "a link that leads nowhere",
    files: { "docs/runs.md": "[turn](../src/run/gone.ts)" },
    problem: "docs/runs.md names ../src/run/gone.ts, which does not exist",
  },
  {
    name: "a path in the text that leads nowhere",
    files: { "docs/runs.md": "See `src/run/gone.ts`." },
    problem: "docs/runs.md names src/run/gone.ts, which does not exist",
  },
  {
    name: "a word that the page may not say; keys, comments and tests may",
    files: {
      "web/words/en/first.po": 'msgid "Put away"\nmsgstr "Put away"\n',
      "web/words/en.test.ts": 'export const text = "Put away";\n',
      "src/run/turn.ts": 'export const turn = "Put away";\n',
    },
    problem: "web/words/en/first.po says “Put away” in “Put away”; say: Archive",
  },
  {
    name: "a phrase that the command line may not say, around a value",
    files: { "src/cli/resume.ts": "export const told = (run) => `${run} goes on where it was`;\n" },
    problem: "src/cli/resume.ts says “goes on” in “… goes on where it was”; say: Continue",
  },
  {
    name: "a phrase that the documentation may not say; code and fenced blocks may",
    files: {
      "docs/page.md": "# Page\n\n`anew` here:\n\n```sh\nread anew\n```\n\nIt is read anew.\n",
    },
    problem: "docs/page.md says “anew” in “It is read anew.”; say: again",
  },
  {
    name: "a heading that its page has twice",
    files: { "docs/page.md": "# Page\n\n## Use\n\nOne.\n\n### Use\n\nTwo.\n\n## Use\n\nThree.\n" },
    problem: "docs/page.md has the heading “## Use” twice",
  },
  {
    name: "a heading with nothing below it before the next of its level",
    files: { "docs/page.md": "# Page\n\n## Allow it\n## Whom it may ask\n\n### Agents\n\nOne.\n" },
    problem: "docs/page.md has nothing below the heading “## Allow it”",
  },
];

test("a sound house has no problems", () => {
  assert.deepEqual(problemsOf(sound), []);
});

test("headings in a fenced block are none, a fenced block is something below a heading, and the changelog repeats its own", () => {
  const fenced = "# Page\n\n## Use\n\n```sh\n# Use\n# Use\n```\n\n## More\n\nOne.\n";
  assert.deepEqual(problemsOf({ ...sound, "docs/page.md": fenced, "CHANGELOG.md": "### New\n\nA.\n\n### New\n" }), []);
});

for (const { name, files, problem } of broken)
  test(name, () => assert.deepEqual(problemsOf({ ...sound, ...files }), [problem]));

function problemsOf(files) {
  const root = mkdtempSync(join(tmpdir(), "colloquy-house-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return examineHouse(root, Object.keys(files).sort());
  } finally {
    rmSync(root, { recursive: true });
  }
}
