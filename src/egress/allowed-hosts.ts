import { isIP } from "node:net";
import { rangesOf } from "./addresses.ts";

export type AllowedHosts = {
  has(host: string, port: number): boolean;
  /** The entries for this port that are addresses or ranges: only they open what is not on the public internet. */
  addresses(port: number): readonly string[];
};

type Entry = { readonly host: string; readonly ports: readonly number[] };

const usualPorts = [80, 443];

/**
 * Entries are `pypi.org` (exactly that), `*.example.org` (all below it, not itself), an address or a range
 * (`10.1.0.0/16`), each for the ports 80 and 443 unless it names one: `pypi.org:8443`, `[::1]:8080`.
 */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  const parsed = entries.map(parse);
  const names = parsed.filter(({ host }) => isIP(host.split("/")[0]!) === 0);
  const ranges = parsed
    .filter((entry) => !names.includes(entry))
    .map(({ host, ports }) => ({ range: rangesOf([host]), host, ports }));
  return {
    has(host, port) {
      const family = isIP(host);
      if (family === 0) return names.some((entry) => entry.ports.includes(port) && isNamed(host, entry.host));
      return ranges.some(
        ({ range, ports }) => ports.includes(port) && range.check(host, family === 6 ? "ipv6" : "ipv4"),
      );
    },
    addresses: (port) => ranges.filter(({ ports }) => ports.includes(port)).map(({ host }) => host),
  };
}

function isNamed(host: string, name: string): boolean {
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}

function parse(entry: string): Entry {
  // A bare IPv6 address has colons of its own; with a port it stands in brackets.
  const [, bracketed, name, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [undefined, undefined, entry];
  const host = (bracketed ?? name ?? entry).toLowerCase().replace(/\.$/, "");
  return { host, ports: port === undefined ? usualPorts : [Number(port)] };
}
