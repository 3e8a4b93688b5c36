import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { colloquySurface } from "../src/http/mcp/mcp-routes.ts";
import { mcpRoutes } from "../src/http/mcp/mcp-endpoint.ts";
import { fixtureSurface } from "./mcp-conformance/fixture-surface.ts";
import { fixtureTools } from "./mcp-conformance/fixture-tools.ts";
import { temporaryFolder } from "./pglite.ts";
import { serve, type Serving } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const modules = join(import.meta.dirname, "../node_modules");
const folder = join(import.meta.dirname, "mcp-conformance");

let backend: AgentServing;
let serving: Serving;
before(async () => {
  backend = await serveAgents(() => "", {}, { tools: fixtureTools });
  const routes = mcpRoutes({
    needs: "ask",
    path: "/mcp/conformance",
    summary: "Fixtures",
    description: "",
    surface: ({ services, caller }) => fixtureSurface(colloquySurface(services, caller)),
  });
  serving = await serve(backend.services, 0, routes);
});
after(async () => {
  await serving.close();
  await backend.close();
});

async function conformance(suite: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const command = join(modules, suite, "dist/index.js");
  const all = [command, "server", "--url", `${serving.url}/mcp/conformance`, ...args];
  const child = spawn(process.execPath, all, {
    cwd: temporaryFolder("conformance"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, output: `${out}${err}` };
}

for (const [suite, requirements] of [
  ["mcp-conformance-next", "2026-07-28"],
  ["mcp-conformance-next", "2025-11-25"],
  ["mcp-conformance-stable", undefined],
] as const)
  test(`the suite ${suite}${requirements ? ` with the requirements of ${requirements}` : ""} finds what is known`, async () => {
    const file = join(folder, `expected-failures-${requirements ?? "stable"}.yml`);
    // Each has its reason beside it; the suite itself fails for one that passes.
    assert.match(readFileSync(file, "utf8"), /^server:/);
    const { code, output } = await conformance(
      suite,
      ...(requirements ? ["--requirements", requirements] : ["--suite", "active"]),
      "--expected-failures",
      file,
    );
    assert.equal(code, 0, output);
  });
