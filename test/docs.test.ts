import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, test } from "node:test";
import { childNodes, keysOf, nodesAt, type SchemaNode } from "../src/config/tree.ts";
import { describeConfig, loadConfig } from "../src/config/load.ts";
import { schemaTree, type Config } from "../src/config/schema.ts";
import { createModels } from "../src/models/registry.ts";
import { blocksOf, pages, read, root } from "./doc-pages.ts";
import { temporaryFolder } from "./pglite.ts";

describe("links", () => {
  for (const page of pages) {
    test(`of ${page} point to files and headings that exist`, () => {
      const text = read(page).replaceAll(/^```.*?^```$/gms, "");
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target!)) continue;
        const [path = "", anchor] = target!.split("#");
        const file = path === "" ? page : join(dirname(page), path);
        assert.ok(existsSync(join(root, file)), `${target}: there is no ${file}`);
        if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), `${target}: ${file} has no such heading`);
      }
    });
  }
});

test("each promise has a section with tests, and these have the names it says", () => {
  const [, ...sections] = read("docs/promises.md").split(/^## /m);
  const table = [...read("docs/promises.md").matchAll(/^\| \[(.*?)\]\(#.*?\) \|/gm)].map(([, promise]) => promise!);
  assert.equal(table.length, 8);
  for (const promise of table) {
    const section = sections.find((text) => text.startsWith(`${promise}\n`)) ?? assert.fail(`${promise}: no section`);
    const tests = [...section.matchAll(/^- \[(.+)\]\(\.\.\/(.+\.test\.ts)\)$/gm)];
    assert.ok(tests.length > 0, promise);
    for (const [, name, file] of tests) assert.ok(read(file!).includes(name!), `${file} has no test: ${name}`);
  }
});

test("the drawing of the code's rooms is as lint/layers.mjs says", () => {
  execFileSync(process.execPath, [join(root, "scripts/draw-layers.mjs"), "--check"]);
});

test("the drawing of a request's path names only files that are there", () => {
  const named = [...read("docs/path.svg").matchAll(/>([a-z]+\/[\w/.-]*)/g)].map(([, path]) =>
    path!.replace(/[:,]$/, ""),
  );
  assert.ok(named.length > 5);
  for (const path of named) assert.ok(existsSync(join(root, "src", path)), path);
});

test("README.md has at most 700 words besides the table of clients", () => {
  const words = read("README.md").replace(/<!-- clients:.*<!-- end of clients -->/s, "");
  assert.ok(words.trim().split(/\s+/).length <= 700);
});

describe("docs/README.md", () => {
  // Decisions are many and have an order of their own: their folder stands for them.
  const ofDocs = pages.filter((page) => page.startsWith("docs/") && !page.startsWith("docs/decisions/"));
  const index = read("docs/README.md");

  test("leads from the start to the internals", () => {
    const headings = [...index.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(headings, ["Start", "Use", "Extend", "Operate", "Internals"]);
    assert.equal(/\]\(([^)]+)\)/.exec(index.split("## Start")[1]!)?.[1], "tour.md");
  });

  test("has every page", () => {
    const linked = [...index.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page]) => join("docs", page!));
    assert.deepEqual(
      ofDocs.filter((page) => page !== "docs/README.md" && !linked.includes(page)),
      [],
    );
    assert.match(index, /\]\(decisions\)/);
  });

  for (const page of ofDocs)
    test(`${page} says first whom it is for`, () => {
      assert.match(read(page), /^# .+\n\n\*For [^*\n]+\.\*\n\n/);
    });
});

test("CHANGELOG.md tells each change in a line, and has the version of package.json", () => {
  const { version }: { version: string } = JSON.parse(read("package.json"));
  const lines = read("CHANGELOG.md").split("\n");
  assert.ok(
    lines.some((line) => line === `## ${version}` || line.startsWith(`## ${version} `)),
    version,
  );
  for (const line of lines.slice(4).filter((each) => each !== ""))
    assert.match(line, /^(## |\*\*|- |The first version)/);
  const long = lines.filter((line) => line.replaceAll(/\]\([^)]*\)/g, "]").length > 160);
  assert.deepEqual(long, []);
});

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every decision has its date and its three parts", () => {
  const decisions = pages.filter((page) => page.startsWith("docs/decisions/"));
  assert.ok(decisions.length > 0);
  for (const page of decisions) {
    assert.match(page, /\/\d{4}-\d\d-\d\d-[a-z-]+\.md$/);
    const headings = [...read(page).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(headings, ["Context", "Decision", "Consequence"], page);
  }
});

test("AGENTS.md stays short", () => {
  assert.ok(read("AGENTS.md").trimEnd().split("\n").length <= 120);
});

/** A configuration as a user has it: the file in a folder of its own, and only these variables. */
function load(yaml: string | undefined, env: Record<string, string> = {}): Config {
  const cwd = temporaryFolder("docs");
  if (yaml !== undefined) writeFileSync(join(cwd, "colloquy.yaml"), yaml);
  return loadConfig({ env, cwd });
}

/** Something fit for every variable that a text asks for. */
function variablesFor(yaml: string): Record<string, string> {
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
  return Object.fromEntries(
    names.map((name) => [name, name === "DATABASE_URL" ? "postgres://localhost/colloquy" : `value-of-${name}`]),
  );
}

describe("configuration examples", () => {
  for (const page of ["docs/models.md", "docs/configuration.md"]) {
    const examples = blocksOf(page).filter(({ language }) => language === "yaml");
    for (const [index, { text }] of examples.entries()) {
      test(`${page}, example ${index + 1}: it loads, and its models are there`, async () => {
        const models = createModels({ models: load(text, variablesFor(text)).models });
        for (const { id, available, reason } of models.list()) assert.ok(available, `${id}: ${reason}`);
        await models.close();
      });
    }
  }
});

/** Rows of a page's tables whose first cell is a key. */
function tableRows(page: string): { readonly key: string; readonly cells: readonly string[] }[] {
  return read(page)
    .split("\n")
    .flatMap((line) => {
      const [, first = "", ...cells] = line.split("|").map((cell) => cell.trim());
      const key = /^`([a-zA-Z_.]+)`$/.exec(first)?.[1];
      return key === undefined ? [] : [{ key, cells }];
    });
}

const codeIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

/** The keys of a schema by their paths; groups are entered, lists and maps are not. */
function leavesOf(nodes: readonly SchemaNode[], path = ""): string[] {
  const keys = keysOf(nodes);
  if (keys.length === 0) return [path];
  return keys.flatMap((key) => leavesOf(childNodes(nodes, key), path === "" ? key : `${path}.${key}`));
}

describe("docs/configuration.md", () => {
  const rows = tableRows("docs/configuration.md");
  const defaults = load(undefined);

  test("has every key of the schema, and no other", () => {
    // What every tool may have stands in a table of its own.
    const ofAnyTool = /^tools\.\w+\.(enabled|timeout|model|temperature)$/;
    const known = leavesOf([schemaTree]).filter((key) => !ofAnyTool.test(key));
    assert.deepEqual(rows.map(({ key }) => key).sort(), known.sort());
  });

  for (const { key, cells } of rows.filter((row) => row.key !== "models")) {
    const [standard = "", environment = "", example = ""] = cells;
    test(`${key}: default and environment are as told`, () => {
      const value = describeConfig(defaults).find(({ path }) => path === key)?.value;
      const isFolder = typeof value === "string" && value.startsWith("/");
      const shown = isFolder ? `./${relative(dirname(defaults.data), value)}` : String(value ?? "") || "none";
      assert.equal(codeIn(standard)[0] ?? standard, shown);
      for (const name of codeIn(environment)) {
        const config = load(undefined, { [name]: codeIn(example)[0]!, COLLOQUY_AUTH__MODE: "accounts" });
        assert.match(config.source.get(key) ?? "", /^environment /, `${name} does not set ${key}`);
      }
    });
  }
});

test("docs/models.md has every key that a model may have, and no other", () => {
  const known = new Set(leavesOf(nodesAt(schemaTree, ["models", 0])));
  assert.deepEqual(
    tableRows("docs/models.md")
      .map(({ key }) => key)
      .sort(),
    [...known].sort(),
  );
});
