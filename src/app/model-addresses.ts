import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/schema.ts";
import { isRefusedAddress } from "../egress/secret-hosts.ts";
import { addressesOf, type ResolveHost } from "../egress/addresses.ts";
import { allowedHosts } from "../egress/allow-proxy.ts";
import { type AddressGuard, guardedConnector } from "../egress/guarded-connector.ts";
import { portOf } from "../egress/redirects.ts";
import type { Connector } from "../models/transport/model-agent.ts";
import { ColloquyError } from "../protocol/base/errors.ts";

export type ModelAddresses = {
  /** Makes the connections of models that admins have defined. */
  readonly connect: Connector;
  /** Why one at this address would not be asked; undefined: it would, or nobody knows yet. */
  readonly whyNotAsked: (address: string) => Promise<string | undefined>;
};

export type ModelAddressesOptions = {
  /** Finds the addresses of a name instead of the operating system. */
  readonly resolve?: ResolveHost;
  /** So long whoever saves a model waits for a name, as each connection looks again; 2 s when absent. */
  readonly lookMs?: number;
};

const connectTimeoutMs = 120_000;
const anywhere = "*";

/**
 * Where models may be that admins define. Those of files and of the environment are the operator's word, and may be anywhere.
 */
export function modelAddressesOf(
  { definitions, auth }: Pick<Config, "definitions" | "auth">,
  { resolve, lookMs = 2000 }: ModelAddressesOptions = {},
): ModelAddresses {
  const listed = definitions.modelHosts ?? (auth.mode === "local" ? [anywhere] : []);
  const allowed = allowedHosts(listed.filter((entry) => entry !== anywhere));
  const everything = listed.includes(anywhere) ? ["0.0.0.0/0", "::/0"] : [];

  const guard: AddressGuard = (given, port) => {
    const host = given.toLowerCase().replace(/\.$/, "");
    return addressesOf(host, {
      allow: [...everything, ...allowed.at(host, port)],
      refuse: isRefusedAddress,
      advice: adviceFor(host, port),
      resolve,
    });
  };

  return {
    connect: guardedConnector(guard, { timeoutMs: connectTimeoutMs }),
    async whyNotAsked(address) {
      const url = new URL(address);
      const look = guard(url.hostname.replace(/^\[|\]$/g, ""), portOf(url)).then(() => undefined, whyRefused);
      return Promise.race([look, sleep(lookMs, undefined, { ref: false })]);
    },
  };
}

/** What can't be found now may be there later. */
function whyRefused(error: unknown): string | undefined {
  return error instanceof ColloquyError && error.code === "address_refused" ? error.message : undefined;
}

function adviceFor(host: string, port: number): string {
  const name = host.includes(":") ? `[${host}]` : host;
  const entry = port === 80 || port === 443 ? name : `${name}:${port}`;
  return (
    `To allow it, the operator must add ${entry} to definitions.modelHosts ` +
    "(COLLOQUY_DEFINITIONS__MODEL_HOSTS), or put the model into colloquy.yaml."
  );
}
