import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pauseAfter } from "../src/cli/workers.ts";
import { temporaryFolder } from "./pglite.ts";

const src = join(import.meta.dirname, "../src");
const cli = join(src, "cli.ts");

/** What `colloquy serve` says when it does not start, and how it ends. */
function refusal(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: unknown; told: string }> {
  const options = {
    cwd: temporaryFolder("workers"),
    env: { PATH: process.env["PATH"] ?? "", COLLOQUY_PROBE: "false", ...env },
  };
  return new Promise((resolve) => {
    const flags = ["--disable-warning=ExperimentalWarning", cli, "serve", ...words];
    execFile(process.execPath, flags, options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, told: stdout + stderr }),
    );
  });
}

for (const [what, words, env] of [
  ["a flag", ["--workers", "2"], {}],
  ["a variable", [], { COLLOQUY_WORKERS: "2" }],
] as const)
  test(`workers: without PostgreSQL, ${what} that asks for several is refused once, with what to do`, async () => {
    const { code, told } = await refusal(words, env);
    assert.match(told, /^colloquy: 2 workers need PostgreSQL, .* Set DATABASE_URL .* or set workers to 1\.\n$/);
    assert.equal(code, 1);
  });

test("workers: a number that can't be is refused before anything starts", async () => {
  for (const count of ["0", "two", "65", "1.5"])
    assert.deepEqual(await refusal(["--workers", count], {}), {
      code: 1,
      told: "colloquy: --workers must be a whole number from 1 to 64.\n",
    });
});

test("serve: the port of the flag counts before that of the environment, and is checked as that is", async () => {
  const { code, told } = await refusal(["--port", "70000"], { COLLOQUY_PORT: "8001" });
  assert.match(told, /server\.port is 70000, but must be at most 65535/);
  assert.equal(code, 1);
});

test("workers: the first one that cannot start ends the server with its error, once", async () => {
  const { code, told } = await refusal(["--workers", "2"], { DATABASE_URL: "postgres://colloquy@127.0.0.1:1/none" });
  assert.equal(told.match(/No connection to postgres:\/\/colloquy@127\.0\.0\.1:1\/none/g)?.length, 1, told);
  assert.equal(code, 1);
});

test("workers: one that dies is replaced at once, and each time it dies again later", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 100].map(pauseAfter),
    [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
});

test("workers: what listens beside the server itself is no other worker's", () => {
  // Among workers Node.js shares what listens: connections would come to another process, and port 0 would be another one in each.
  const sources = globSync("**/*.ts", { cwd: src }).filter(
    (file) => !/\.test\.ts$/.test(file) && file !== "http/server/listen.ts",
  );
  const listening = sources.flatMap((file) => {
    const text = readFileSync(join(src, file), "utf8");
    return /\bcreateServer\(/.test(text) ? [...text.matchAll(/\.listen\(.*/g)].map(([call]) => ({ file, call })) : [];
  });
  assert(listening.length >= 4, `${listening.length} found`);
  assert.deepEqual(
    listening.filter(({ call }) => !call.includes("exclusive: true")),
    [],
  );
});
