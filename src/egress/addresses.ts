import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { InvalidInput, messageOf, Unavailable } from "../protocol/base/errors.ts";

export type ResolvedAddress = { readonly address: string; readonly family: number };

/** All addresses of a name; the operating system's resolver unless another is given. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Addresses and ranges of both families. */
export type Ranges = { has(address: string): boolean };

/**
 * What lies behind the server and not on the public internet: this machine, its networks, clouds' metadata, and all that
 * IANA's registries keep for a special purpose.
 */
const guarded = rangesOf([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10", // carriers' NAT; one cloud's metadata
  "127.0.0.0/8",
  "168.63.129.16/32", // a cloud's host agent, on a public address
  "169.254.0.0/16", // link-local; most clouds' metadata
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24", // anycast, as 192.52.193.0 and 192.175.48.0: the node that answers may be in our own network
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3", // multicast and reserved
  // Of IPv6 only 2000::/3 is the internet: the rest is loopback, mapped IPv4, NAT64, unique local, link-local, multicast.
  "::/3",
  "4000::/2",
  "8000::/1",
  "2001::/23", // Teredo and other tunnels
  "2001:db8::/32",
  "2002::/16", // 6to4: carries an IPv4 address
  "2620:4f:8000::/48", // anycast
  "3fff::/20",
]);

export type AddressRules = {
  /** Hosts (whatever they resolve to), addresses and ranges (`10.1.0.0/16`) that are taken though they are not public. */
  readonly allow: readonly string[];
  /** Addresses that are refused whatever is allowed. */
  readonly refuse?: ((address: string) => boolean) | undefined;
  /** How it could be allowed, for whoever is refused. */
  readonly advice?: string | undefined;
  readonly resolve?: ResolveHost | undefined;
};

/** The addresses to connect to, resolved once and each checked. Throws InvalidInput `address_refused`, Unavailable `unreachable`. */
export async function addressesOf(
  host: string,
  { allow, refuse, advice, resolve }: AddressRules,
): Promise<readonly ResolvedAddress[]> {
  const name = bare(host);
  const addresses = isIP(name) ? [{ address: name, family: isIP(name) }] : await find(name, resolve ?? resolveAll);
  if (refuse && addresses.some(({ address }) => refuse(address)))
    throw new InvalidInput(`${host} leads to an address that is never asked.`, { code: "address_refused" });
  if (allow.some((entry) => bare(entry.toLowerCase()) === name)) return addresses;
  const allowed = rangesOf(allow);
  // One bad address is enough: which of them gets the connection is not ours to say.
  for (const { address } of addresses) {
    if ((isIP(address) === 0 || guarded.has(address)) && !allowed.has(address))
      throw new InvalidInput(
        `${host} is not on the public internet, so it is not asked.${advice === undefined ? "" : ` ${advice}`}`,
        { code: "address_refused" },
      );
  }
  return addresses;
}

/** A URL has an IPv6 address in brackets. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

async function find(name: string, resolve: ResolveHost): Promise<readonly ResolvedAddress[]> {
  let addresses: readonly ResolvedAddress[];
  try {
    addresses = await resolve(name);
  } catch (cause) {
    throw new Unavailable(`The name ${name} can't be resolved: ${messageOf(cause)}`, { code: "unreachable", cause });
  }
  if (addresses.length === 0) throw new Unavailable(`The name ${name} has no address.`, { code: "unreachable" });
  return addresses;
}

function resolveAll(name: string): Promise<readonly ResolvedAddress[]> {
  return lookup(name, { all: true });
}

/**
 * Answers a connection's own question for the address with what was checked, not at once: a connection that fails while it
 * is being made has nobody yet who hears of it, and would end the process.
 */
export function lookupOf(addresses: readonly ResolvedAddress[]) {
  return (
    _host: string,
    options: { readonly all?: boolean | undefined },
    answer: (error: null, address: string | ResolvedAddress[], family?: number) => void,
  ): void => {
    const [first] = addresses;
    if (options.all) process.nextTick(answer, null, [...addresses]);
    else process.nextTick(answer, null, first!.address, first!.family);
  };
}

/**
 * Of the entries those that are addresses or ranges; the others are names. Each family has a list of its own: in one,
 * Node.js reads an IPv4 address as `::ffff:…` too, and a range like `::/3` would hold all of them.
 */
export function rangesOf(entries: readonly string[]): Ranges {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = familyOf(address);
    if (family) lists[family].addSubnet(address, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return {
    has(address) {
      const family = familyOf(address);
      return family !== undefined && lists[family].check(address, family);
    },
  };
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}
