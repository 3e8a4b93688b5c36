/**
 * What only the whole tree can tell: circles of imports (types and `import()` counted), folders with too many files, loose
 * files, packages that nothing uses, paths in documents that lead nowhere, headings that were left over, names that stand for
 * several types, and words that nobody would say to a user.
 * `node lint/house.mjs` prints what is wrong.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ownedTables } from "./layers.mjs";
import { confusingNames } from "./names.mjs";
import { unnaturalWords } from "./words.mjs";

const maxInFolder = 30;
const maxLoose = 5;

/** What is wrong with the tree at `root`, a line each. `files`: the paths from there, as git knows them. */
export function examineHouse(root, files) {
  const read = (file) => readFileSync(join(root, file), "utf8");
  const code = files.filter((file) => /^(src|web)\/.*\.tsx?$/.test(file) && !isTest(file));
  const imports = new Map(code.map((file) => [file, importsOf(read(file))]));
  return [
    ...circles(imports),
    ...fullFolders(files),
    ...looseFiles(files),
    ...unusedPackages(JSON.parse(read("package.json")), imports, files.filter(isStyle).map(read)),
    ...neglectedTables(files, read),
    ...madeCallers(code, read),
    ...confusingNames(files.filter((file) => /^(src|web)\/.*\.tsx?$/.test(file)).map((file) => [file, read(file)])),
    ...brokenPaths(root, files, read),
    ...leftoverHeadings(files, read),
    ...unnaturalWords(files, read),
  ];
}

const callerMakers = ["src/protocol/base/callers.ts", "src/rooms/room-authority.ts"];

/** Rights by spreading a caller: one check forgotten, and somebody may all. */
function madeCallers(code, read) {
  const spread =
    /\{\s*\.\.\.(?:\w*[cC]aller|callerOf\([^)]*\))\b[^{}]*\b(?:role|permissions|scopes|userId|authority)\b/;
  return code
    .filter((file) => file.startsWith("src/") && !callerMakers.includes(file) && spread.test(read(file)))
    .map(
      (file) => `${file} makes a caller with other rights by spreading one; that is for ${callerMakers.join(" and ")}`,
    );
}

function isTest(file) {
  return /\.test\.tsx?$/.test(file);
}

function isStyle(file) {
  return file.endsWith(".css");
}

/** Each import of a file; `isType` if nothing of it is left when types are stripped. */
function importsOf(text) {
  const found = [];
  const statement = /^(?:import|export)\s+(type\s+)?([^"';]*?)from\s+"([^"]+)"/gm;
  for (const [, type, names, source] of text.matchAll(statement)) {
    const named = /^\{([^}]*)\}\s*$/.exec(names.trim());
    const isType = type !== undefined || (named?.[1].split(",").every((each) => /^\s*(type\s|$)/.test(each)) ?? false);
    found.push({ source, isType });
  }
  for (const [, source] of text.matchAll(/^import\s+"([^"]+)"/gm)) found.push({ source, isType: false });
  for (const [, source] of text.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g)) found.push({ source, isType: false });
  for (const [, source] of text.matchAll(/import\.meta\.resolve\("([^"]+)"\)/g)) found.push({ source, isType: false });
  return found;
}

function circles(imports) {
  const problems = [];
  const state = new Map();
  const visit = (file, path) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      problems.push(`circle of imports: ${[...path.slice(path.indexOf(file)), file].join(" → ")}`);
      return;
    }
    state.set(file, "open");
    for (const { source } of imports.get(file)) {
      const target = source.startsWith(".") ? normalize(join(dirname(file), source)) : undefined;
      if (imports.has(target)) visit(target, [...path, file]);
    }
    state.set(file, "done");
  };
  for (const file of imports.keys()) visit(file, []);
  return problems;
}

function fullFolders(files) {
  const inFolder = Map.groupBy(
    files.filter((file) => /^(src|web)\//.test(file) && !isTest(file)),
    (file) => dirname(file),
  );
  return [...inFolder]
    .filter(([, { length }]) => length > maxInFolder)
    .map(([folder, { length }]) => `${folder} holds ${length} files; at most ${maxInFolder}`);
}

function looseFiles(files) {
  const loose = files.filter((file) => /^src\/[^/]+$/.test(file) && !isTest(file));
  return loose.length > maxLoose
    ? [`src/ holds ${loose.length} loose files; at most ${maxLoose}: ${loose.join(", ")}`]
    : [];
}

/** A package of which only types are taken does nothing. */
function unusedPackages({ dependencies = {} }, imports, styles) {
  const used = new Set();
  for (const list of imports.values())
    for (const { source, isType } of list) if (!isType && !source.startsWith(".")) used.add(packageOf(source));
  for (const text of styles)
    for (const [, source] of text.matchAll(/(?:@import |url\()"([^".][^"]*)"/g)) used.add(packageOf(source));
  return Object.keys(dependencies)
    .filter((name) => !used.has(name))
    .map((name) => `nothing uses the package ${name}`);
}

function packageOf(specifier) {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Hold an account's id and nothing else of it that its owner could use: locks, keys, sealed things, what is being erased, sums of what is told. */
const notTold = new Set([
  ...["account_links", "erasures", "idempotency_keys", "removed_threads", "room_presence"],
  ...["run_secrets", "signing_keys", "spending_holds", "task_calls", "usage_rollups"],
]);

/** Each table is written by somebody who is named, has a rule for exports, and what it holds of a person is told to them. */
function neglectedTables(files, read) {
  const made = new Map();
  for (const file of files.filter((each) => /^src\/store\/schema\/.*\.(sql|ts)$/.test(each) && !isTest(each)))
    for (const [, table, columns] of read(file).matchAll(
      /create (?:unlogged )?table (?:if not exists )?(\w+)\s*\(([\s\S]*?)\n?\)[;`]/gi,
    ))
      if (table !== "migrations") made.set(table.toLowerCase(), columns);
  const textOf = (file) => (files.includes(file) ? read(file) : undefined);
  const [moved, personal] = [textOf("src/store/moving/moved-tables.ts"), textOf("src/store/privacy/personal-rows.ts")];
  return [...made].flatMap(([table, columns]) => [
    ...(ownedTables.has(table) ? [] : [`nobody is named to write the table ${table} (lint/layers.mjs)`]),
    ...(moved?.includes(`"${table}"`) === false
      ? [`no rule says what an export does with the table ${table} (src/store/moving/moved-tables.ts)`]
      : []),
    ...(/\buser_id\b/.test(columns) && !notTold.has(table) && personal?.match(`\\b${table}\\b`) === null
      ? [`no export of a person tells what the table ${table} holds (src/store/privacy/personal-rows.ts)`]
      : []),
  ]);
}

/** Links, and paths in the text such as `src/run/turn/execute.ts`. What history says stays as it was. */
function brokenPaths(root, files, read) {
  // The beginning of a name is enough for a test runner.
  const isHere = (path) => existsSync(join(root, path)) || files.some((file) => file.startsWith(`${path}.`));
  const problems = [];
  for (const page of files.filter((file) => file.endsWith(".md") && !/^CHANGELOG|^(src|lint)\//.test(file))) {
    const text = read(page).replace(/^```\w[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ""));
    const wrong = new Set();
    for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(#|[a-z][a-z0-9+.-]*:|\/)/.test(link)) continue;
      const path = normalize(join(dirname(page), decodeURI(link.split(/[#?]/)[0])));
      if (!path.startsWith("..") && !isHere(path)) wrong.add(link);
    }
    for (const [path] of text.matchAll(
      /(?<![\w./:-])(?:src|web|test|lint|bench|chaos|mutation|scripts|docs)\/[\w./-]*\w/g,
    ))
      if (!isHere(path)) wrong.add(path);
    for (const path of wrong) problems.push(`${page} names ${path}, which does not exist`);
  }
  return problems;
}

/** A half-finished rewrite leaves headings behind: one that its page has twice, or one with nothing below it before the next. */
function leftoverHeadings(files, read) {
  const problems = [];
  for (const page of files.filter((file) => file.endsWith(".md") && !/^(CHANGELOG\.md$|src\/|lint\/)/.test(file))) {
    const seen = new Set();
    let before;
    let isFenced = false;
    for (const line of read(page).split("\n")) {
      if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
      const [, marks] = (!isFenced && /^(#{1,6}) /.exec(line)) || [];
      if (marks !== undefined) {
        if (seen.has(line)) problems.push(`${page} has the heading “${line}” twice`);
        seen.add(line);
        if (before?.marks === marks) problems.push(`${page} has nothing below the heading “${before.line}”`);
        before = { marks, line };
      } else if (line.trim() !== "") before = undefined;
    }
  }
  return problems;
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  const list = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = list.split("\n").filter((file) => file !== "" && existsSync(join(root, file)));
  const problems = examineHouse(root, files);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
  else
    console.log(
      `${countCode(root, files).toLocaleString("en")} lines of code in src/, at most ${longestChain(root, files)} files import one another in a row`,
    );
}

/** How many files stand in the longest row in which each imports the next, types and `import()` counted. */
function longestChain(root, files) {
  const source = files.filter((file) => /^src\/.*\.ts$/.test(file) && !file.endsWith(".test.ts"));
  const importsOf = (file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, path]) =>
      normalize(join(dirname(file), path)),
    );
  const lengths = new Map();
  const lengthFrom = (file) => {
    const known = lengths.get(file);
    if (known !== undefined) return known;
    // There are no circles: another check of this file sees to it.
    const length =
      1 +
      Math.max(
        0,
        ...importsOf(file)
          .filter((path) => source.includes(path))
          .map(lengthFrom),
      );
    lengths.set(file, length);
    return length;
  };
  return Math.max(...source.map(lengthFrom));
}

/** Without tests, comments and blank lines. */
function countCode(root, files) {
  const isOurs = (file) => /^src\/.*\.ts$/.test(file) && !file.endsWith(".test.ts");
  const isCode = (line) => !/^\s*(\/\/|\/?\*|$)/.test(line);
  return files.filter(isOurs).flatMap((file) => readFileSync(join(root, file), "utf8").split("\n").filter(isCode))
    .length;
}
