import { isIP } from "node:net";
import { buildConnector } from "undici";
import type { ResolvedAddress } from "./addresses.ts";

/** The addresses that a connection to this host and port may go to. Throws where it may go nowhere. */
export type AddressGuard = (host: string, port: number) => Promise<readonly ResolvedAddress[]>;

/**
 * Makes the connections of an undici agent, each only to addresses that the guard gave for it: neither a redirect nor a name
 * that changes its mind leads elsewhere. Over HTTP/1.1.
 */
export function guardedConnector(
  guard: AddressGuard,
  { timeoutMs }: { readonly timeoutMs: number },
): buildConnector.connector {
  // A lookup is not told the port.
  const connectors = new Map<number, buildConnector.connector>();
  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port);
    if (known) return known;
    const made = buildConnector({ lookup: guardedLookup(guard, port), timeout: timeoutMs, allowH2: false });
    connectors.set(port, made);
    return made;
  };
  return (options, callback) => {
    const { hostname, protocol } = options;
    const port = Number(options.port || (protocol === "https:" ? 443 : 80));
    const connect = (): void => connectorFor(port)(options, callback);
    if (isIP(hostname) === 0) return connect();
    // An address is not looked up.
    guard(hostname, port)
      .then(connect)
      .catch((error: Error) => callback(error, null));
  };
}

/** Asked by each new connection for where it is to go. */
function guardedLookup(guard: AddressGuard, port: number) {
  return (
    host: string,
    { all }: { readonly all?: boolean | undefined },
    answer: (error: Error | null, address: string | ResolvedAddress[], family?: number) => void,
  ): void => {
    guard(host, port).then(
      (addresses) => (all ? answer(null, [...addresses]) : answer(null, addresses[0]!.address, addresses[0]!.family)),
      (error: Error) => answer(error, ""),
    );
  };
}
