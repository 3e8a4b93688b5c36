import type { Config } from "../../config/schema.ts";

/** Addresses of this server. Parts opened before it listens read them when they need them. */
export type ServerAddress = {
  /** The actual port; the configured one until the server listens. */
  port(): number;
  /** Undefined until it listens. */
  url(): string | undefined;
  /** Where browsers reach the server: its origin and base path. */
  base(): string;
  /** Resolves when the server listens. */
  readonly listening: Promise<void>;
  /** Called once the server listens. */
  readonly set: (url: string) => void;
};

export function createAddress({ server }: Pick<Config, "server">): ServerAddress {
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  let known: string | undefined;
  const port = () => (known === undefined ? server.port : portOf(new URL(known)));
  return {
    port,
    url: () => known,
    base: () => `${server.publicUrl ?? `http://localhost:${port()}`}${server.basePath}`,
    listening,
    set(url) {
      known = url;
      resolve();
    },
  };
}

/** Returns the port of a URL, which omits the default port of its protocol. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}
