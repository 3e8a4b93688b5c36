import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { temporaryFolder } from "./pglite.ts";

const modules = join(import.meta.dirname, "../node_modules");
const folder = join(import.meta.dirname, "mcp-conformance");
/** The suites start all scenarios at once. */
const timeoutMs = "180000";
/** It judges by the clock to half a second, which a machine with all scenarios at work at once can miss. */
const byTheClock = "sse-retry";

type Outcome = { readonly code: number; readonly output: string };

async function judge(suite: string, args: readonly string[]): Promise<Outcome> {
  const client = `${process.execPath} ${join(folder, "client.ts")}`;
  const all = ["client", "--command", client, ...args, "--timeout", timeoutMs];
  const child = spawn(process.execPath, [join(modules, suite, "dist/index.js"), ...all], {
    cwd: temporaryFolder("conformance"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, output: out + err };
}

for (const [suite, requirements] of [
  ["mcp-conformance-next", "2026-07-28"],
  ["mcp-conformance-next", "2025-11-25"],
  ["mcp-conformance-stable", undefined],
] as const)
  test(`as a client: the suite ${suite}${requirements ? ` with the requirements of ${requirements}` : ""} finds what is known`, async () => {
    const which = requirements ? ["--requirements", requirements] : ["--suite", "all"];
    const known = join(folder, `expected-failures-${requirements ?? "stable"}.yml`);
    const more = join(temporaryFolder("conformance"), "known.yml");
    writeFileSync(more, readFileSync(known, "utf8").replace(/^client:$/m, `client:\n  - ${byTheClock}`));
    // A suite fails for what is listed and passes, too.
    let outcome: Outcome = { code: 1, output: "" };
    for (const list of [known, more, known]) {
      outcome = await judge(suite, [...which, "--expected-failures", list]);
      if (outcome.code === 0) break;
    }
    assert.equal(outcome.code, 0, outcome.output);
  });

test("as a client: a broken stream is taken up again after the time that the server said", async () => {
  let outcome: Outcome | undefined;
  for (let tries = 0; tries < 3 && outcome?.code !== 0; tries++)
    outcome = await judge("mcp-conformance-stable", ["--scenario", byTheClock]);
  assert.equal(outcome!.code, 0, outcome!.output);
});
