import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export type Listening = { readonly url: string; close(): void };

/** On loopback, on a free port. */
export async function listen(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
