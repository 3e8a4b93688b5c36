import { once } from "node:events";
import { createServer } from "node:net";
import type { FastifyInstance } from "fastify";
import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";

/** Throws Conflict `port_in_use` or InvalidInput, in words for whoever chose the address; `advice` says how to choose another. */
export async function listen(
  app: FastifyInstance,
  { host, port, advice }: { readonly host: string; readonly port: number; readonly advice: string },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EADDRINUSE")
      throw new Conflict(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port: ${advice}`,
        {
          code: "port_in_use",
          cause: error,
        },
      );
    if (code === "EACCES")
      throw new InvalidInput(`No permission to listen on port ${port}. Choose a port from 1024 up.`, { cause: error });
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new InvalidInput(`This machine has no address ${host}.`, { cause: error });
    throw error;
  }
}

/**
 * Listens on one more port for a server that listens already, shared by workers as its own is. What connects there is one of the
 * server's connections: its bounds hold, and it ends with them. Throws as Node.js does.
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
