/**
 * Builds the web page into `.cache/page` when what it is made of has changed. Beside each file that shrinks stand its compressed
 * forms. Prints nothing when there is nothing to do; exits with 1, and leaves the last page, when the sources do not build.
 */
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { isAlive } from "./lock.mjs";
import { pageHashes } from "./page-hash.mjs";

const root = dirname(import.meta.dirname);
const target = join(root, ".cache", "page");
const { wanted, built } = pageHashes(root);

if (built !== wanted) {
  process.stderr.write("colloquy: building the page, some seconds\n");
  try {
    await buildPage();
  } catch (error) {
    const isDenied = ["EACCES", "EPERM", "EROFS"].includes(error.code);
    const advice = isDenied ? `. Start once as a user who can write ${root}` : "";
    process.stderr.write(`colloquy: the page can't be built: ${error.message}${advice}\n`);
    process.exitCode = 1;
  }
}

async function buildPage() {
  const { build } = await import("vite");
  const fresh = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  // What a killed build left.
  for (const left of globSync("page.*", { cwd: dirname(target) })) {
    if (!isAlive(Number(left.slice("page.".length))))
      rmSync(join(dirname(target), left), { recursive: true, force: true });
  }
  try {
    await build({ configFile: join(root, "web", "vite.config.ts"), build: { outDir: fresh, emptyOutDir: true } });
    for (const file of globSync("**/*.{js,css,html,svg,webmanifest}", { cwd: fresh })) compress(join(fresh, file));
    writeFileSync(join(fresh, "hash"), wanted);
    replaceTarget(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Another process may be at the same; all build alike, so whose is kept does not matter. */
function replaceTarget(fresh) {
  for (;;) {
    rmSync(target, { recursive: true, force: true });
    try {
      return renameSync(fresh, target);
    } catch (error) {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    }
  }
}

function compress(file) {
  const bytes = readFileSync(file);
  if (bytes.length < 1024) return;
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
}
