import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

/** Free ones at the first start, the same ones at each start after. */
export async function portsOf(folder) {
  const file = join(folder, "ports.json");
  if (!existsSync(file)) {
    const [service, ingress, admin, node] = await Promise.all(Array.from({ length: 4 }, freePort));
    writeFileSync(file, JSON.stringify({ service, ingress, admin, node }));
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
