import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { temporaryFolder } from "./pglite.ts";

const modules = join(import.meta.dirname, "../node_modules");
const folder = join(import.meta.dirname, "mcp-conformance");
/** The suites start all scenarios at once. */
const timeoutMs = "180000";

for (const [suite, requirements] of [
  ["mcp-conformance-next", "2026-07-28"],
  ["mcp-conformance-next", "2025-11-25"],
  ["mcp-conformance-stable", undefined],
] as const)
  test(`as a client: the suite ${suite}${requirements ? ` with the requirements of ${requirements}` : ""} finds what is known`, async () => {
    const client = `${process.execPath} ${join(folder, "client.ts")}`;
    const which = requirements ? ["--requirements", requirements] : ["--suite", "all"];
    const known = join(folder, `expected-failures-${requirements ?? "stable"}.yml`);
    const args = ["client", "--command", client, ...which, "--expected-failures", known, "--timeout", timeoutMs];
    const child = spawn(process.execPath, [join(modules, suite, "dist/index.js"), ...args], {
      cwd: temporaryFolder("conformance"),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    assert.equal(code, 0, `${out}${err}`);
  });
