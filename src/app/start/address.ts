import type { Config } from "../../config/schema.ts";

/** Where this server is reached. Parts that are opened before it listens ask when they need it. */
export type ServerAddress = {
  /** The configured one, until it listens. */
  port(): number;
  /** Undefined until it listens. */
  url(): string | undefined;
  /** Where browsers find it: an origin, and what stands before all paths. */
  base(): string;
  /** Resolves when it listens. */
  readonly listening: Promise<void>;
  /** Says that it listens. */
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

/** A URL leaves out the usual port of its protocol. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}
