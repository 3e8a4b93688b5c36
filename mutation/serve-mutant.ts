/**
 * Loaded before a test file and, by NODE_OPTIONS, before every process that it starts: serves one source changed, as
 * COLLOQUY_MUTANT says, and ends the test file at its first failure.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import type { Served } from "./run-tests.ts";

const given = process.env["COLLOQUY_MUTANT"];
if (given !== undefined) {
  const { path, start, end, text } = JSON.parse(given) as Served;
  const mutated = pathToFileURL(path).href;
  registerHooks({
    load(url, context, next) {
      if (url !== mutated) return next(url, context);
      const whole = readFileSync(path, "utf8");
      const source = whole.slice(0, start) + text + whole.slice(end);
      return { format: "module-typescript", source, shortCircuit: true };
    },
  });
}

// A process that a test starts must not begin a test run of its own.
if (process.argv[1]?.endsWith(".test.ts")) {
  const { afterEach } = await import("node:test");
  afterEach((context) => {
    if ("passed" in context && !context.passed) process.exit(1);
  });
}
