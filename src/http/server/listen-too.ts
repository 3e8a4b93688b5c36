import { once } from "node:events";
import { createServer } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Listens on one more port for a server that listens already, shared by workers as its own is. What connects there is one of the
 * server's connections: its bounds hold, and it ends with them. Throws as `listen` of Node.js does.
 */
export async function listenToo(
  app: FastifyInstance,
  place: { readonly host: string; readonly port: number },
): Promise<{ readonly close: () => void }> {
  // As Node.js sets up those of HTTP servers.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    app.server.emit("connection", socket),
  );
  server.listen(place);
  await once(server, "listening");
  return { close: () => void server.close() };
}
