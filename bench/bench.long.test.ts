import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { skipBrowser } from "../test/browser.ts";
import { sampled } from "../test/sampled.ts";
import { peers } from "./peers/peers.ts";

const root = join(import.meta.dirname, "..");
const program = fileURLToPath(new URL("run.ts", import.meta.url));

/** The bench counts every token, tool call and sum of what it measures; the times of a quick run mean nothing. */
test("every part of the bench finds the answers right", { timeout: 600_000 }, async () => {
  const { stdout: usage } = spawnSync(process.execPath, [program, "--help"], { encoding: "utf8" });
  const [, parts = ""] = /parts: (.+)/.exec(usage) ?? [];
  assert.ok(parts.split(" ").length > 10, usage);
  const drawn = sampled(parts.split(" "), 4);
  console.log(`parts: ${drawn.join(" ")}`);
  const bench = spawn(process.execPath, [program, "--quick", ...drawn], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [bench.stdout, bench.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [code] = (await once(bench, "close")) as [number];
  assert.equal(code, 0, printed);
  if (!skipBrowser && drawn.includes("page")) assert.match(printed, /a key press until it is painted/);
});

/** They come from a registry, so that a machine without a way to it goes without. */
const skipPeers =
  !peers.every(({ name }) => existsSync(join(root, ".cache/bench-peers", name, "node_modules/.installed-lock"))) &&
  "`npm run bench -- --peers` has not installed the peers";

test("peers give the same answers as we do", { timeout: 300_000, skip: skipPeers }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--quick", "--peers"], { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  for (const { about } of peers) assert.ok(stdout.includes(about), stdout);
});
