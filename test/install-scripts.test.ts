import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { read, root } from "./doc-pages.ts";
import { temporaryFolder } from "./pglite.ts";

/** A checkout with our way in and one dependency, which leaves a mark in it if its install script runs. */
function checkout(): { readonly folder: string; readonly mark: string } {
  const folder = temporaryFolder("install-scripts");
  const mark = join(folder, "it-ran");
  const source = join(folder, "source", "package");
  mkdirSync(source, { recursive: true });
  const nosy = { name: "nosy", version: "1.0.0", scripts: { postinstall: `touch ${mark}` } };
  writeFileSync(join(source, "package.json"), JSON.stringify(nosy));
  execFileSync("tar", ["czf", join(folder, "nosy.tgz"), "-C", join(folder, "source"), "package"]);
  cpSync(join(root, "scripts"), join(folder, "scripts"), { recursive: true });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "cli.ts"), "");
  // By its file, so that nothing is asked for outside.
  const own = { name: "checkout", type: "module", dependencies: { nosy: "file:nosy.tgz" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(own));
  return { folder, mark };
}

function npm(folder: string, ...args: string[]): void {
  // `npm test` hands down the settings of this checkout, which has scripts off.
  const clean = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = { ...Object.fromEntries(clean), npm_config_cache: join(folder, "npm-cache"), npm_config_offline: "true" };
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, env, stdio: "pipe" });
}

/** As a package of a registry is named, which the start compares; where it comes from stays. */
function pin(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/"nosy": ?"file:nosy.tgz"/g, '"nosy": "1.0.0"'));
}

test("no package runs a script when it is installed, by the start or by hand", () => {
  const { folder, mark } = checkout();
  npm(folder, "install");
  assert.ok(existsSync(mark), "without us it runs");
  rmSync(mark);

  cpSync(join(root, ".npmrc"), join(folder, ".npmrc"));
  rmSync(join(folder, "node_modules"), { recursive: true });
  npm(folder, "install");
  assert.ok(existsSync(join(folder, "node_modules", "nosy")));
  assert.ok(!existsSync(mark), "npm install ran it");

  // Whatever a machine's own settings say.
  rmSync(join(folder, ".npmrc"));
  for (const file of ["package.json", "package-lock.json"]) pin(join(folder, file));
  rmSync(join(folder, "node_modules"), { recursive: true });
  execFileSync(process.execPath, [join(folder, "scripts", "bootstrap.mjs"), "cli"], {
    env: { ...process.env, npm_config_ignore_scripts: "false", npm_config_cache: join(folder, "npm-cache") },
    stdio: "pipe",
  });
  assert.ok(existsSync(join(folder, "node_modules", "nosy")));
  assert.ok(!existsSync(mark), "the start ran it");
});

test("packages that want to run a script are known, and known to work without", () => {
  const without: Readonly<Record<string, string>> = {
    "@mongodb-js/zstd": "fetches a binary for `tar --zstd` in the simulated shell, which says that it can't",
    "node-liblzma": "compiles a binary for `tar -J` in the simulated shell, which says that it can't",
    "tesseract.js": "asks for donations",
  };
  const { packages } = JSON.parse(read("package-lock.json")) as {
    packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  const wanting = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.replace(/^.*node_modules\//, "")] : [],
  );
  assert.deepEqual(wanting.sort(), Object.keys(without).sort(), "a new one: does it work without its script?");
  assert.match(readFileSync(join(root, ".npmrc"), "utf8"), /^ignore-scripts=true$/m);
});
