import type { Config } from "../../config/schema.ts";

/** Addresses of this server. Parts opened before it listens read them when they need them. */
export type ServerAddress = {
  /** The actual port; the configured one until the server listens. */
  port(): number;
  /** Whether it listens there, or will. */
  isOwnPort(port: number): boolean;
  /** Undefined until it listens. */
  url(): string | undefined;
  /** Where browsers reach the server: its origin and base path. */
  base(): string;
  /** Resolves when the server listens. */
  readonly listening: Promise<void>;
  /** Called once the server listens; `more`: on which other ports. */
  readonly set: (url: string, more?: readonly number[]) => void;
};

export function createAddress({ server }: Pick<Config, "server">): ServerAddress {
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  let known: string | undefined;
  let others: readonly number[] = [];
  const port = () => (known === undefined ? server.port : portOf(new URL(known)));
  return {
    port,
    isOwnPort: (asked) => asked === port() || others.includes(asked),
    url: () => known,
    base: () => `${server.publicUrl ?? `http://localhost:${port()}`}${server.basePath}`,
    listening,
    set(url, more = []) {
      known = url;
      others = more;
      resolve();
    },
  };
}

/** Returns the port of a URL, which omits the default port of its protocol. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}
