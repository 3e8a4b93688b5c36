import { setTimeout as sleep } from "node:timers/promises";
import { silentLog } from "../src/protocol/base/log.ts";
import { createMcpServers } from "../src/tools/mcp/mcp-servers.ts";
import { createToolRegistry } from "../src/tools/core/registry.ts";
import { cpuMilliseconds, serveCommands } from "./child.ts";

/** Chooses an agent's tools among those of many servers: `mcp-chooser.ts <url>…`. */
const urls = process.argv.slice(2);
const off = { disabled: true };
const mcp = createMcpServers({
  servers: {
    ...Object.fromEntries(urls.map((url, at) => [`s${at}`, { url }])),
    mcp_filesystem: off,
    mcp_trader: off,
  },
  version: "bench",
  environment: {},
  log: silentLog,
});
const registry = createToolRegistry([], mcp.sources);
const caller = { userId: "u", name: "bench", role: "admin", permissions: ["*"], via: "local" } as const;
const isDone = () => mcp.states().every(({ state }) => state === "ready" || state === "disabled");
for (const end = performance.now() + 60_000; !isDone() && performance.now() < end;) await sleep(20);

function measure(times: number): number {
  const before = cpuMilliseconds();
  let chosen = 0;
  for (let time = 0; time < times; time++) chosen = registry.select(["*"], caller).length;
  const cpuMs = (cpuMilliseconds() - before) / times;
  if (chosen !== mcp.states().reduce((sum, { tools }) => sum + tools, 0) || chosen < urls.length)
    throw new Error(`${chosen} tools were chosen.`);
  return cpuMs;
}

serveCommands({ measure });
