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
