/**
 * IANA's registries of special-purpose addresses (IPv4 and IPv6), written out, and arithmetic of its own, so that a test of
 * the guard does not ask the guard what is right.
 */

/** `reachable`: the registry says "Globally Reachable: True", and the guard has a reason to refuse it nevertheless. */
export type SpecialRange = {
  readonly range: string;
  readonly name: string;
  readonly reachable?: string;
};

const anycast = "anycast: the nearest node answers, which may stand in our own network; nobody serves pages there";

/** https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast, which has a registry of its own. */
const ofFour: readonly SpecialRange[] = [
  { range: "0.0.0.0/8", name: "this network" },
  { range: "0.0.0.0/32", name: "this host on this network" },
  { range: "10.0.0.0/8", name: "private use" },
  { range: "100.64.0.0/10", name: "shared address space" },
  { range: "127.0.0.0/8", name: "loopback" },
  { range: "169.254.0.0/16", name: "link local" },
  { range: "172.16.0.0/12", name: "private use" },
  { range: "192.0.0.0/24", name: "IETF protocol assignments" },
  { range: "192.0.0.0/29", name: "IPv4 service continuity prefix" },
  { range: "192.0.0.8/32", name: "IPv4 dummy address" },
  { range: "192.0.0.9/32", name: "Port Control Protocol anycast", reachable: "it steers the NAT of our own network" },
  { range: "192.0.0.10/32", name: "TURN anycast", reachable: anycast },
  { range: "192.0.0.170/32", name: "NAT64/DNS64 discovery" },
  { range: "192.0.0.171/32", name: "NAT64/DNS64 discovery" },
  { range: "192.0.2.0/24", name: "documentation (TEST-NET-1)" },
  { range: "192.31.196.0/24", name: "AS112-v4", reachable: anycast },
  { range: "192.52.193.0/24", name: "AMT", reachable: anycast },
  { range: "192.88.99.0/24", name: "deprecated (6to4 relay anycast)" },
  { range: "192.88.99.2/32", name: "6a44 relay anycast" },
  { range: "192.168.0.0/16", name: "private use" },
  { range: "192.175.48.0/24", name: "direct delegation AS112 service", reachable: anycast },
  { range: "198.18.0.0/15", name: "benchmarking" },
  { range: "198.51.100.0/24", name: "documentation (TEST-NET-2)" },
  { range: "203.0.113.0/24", name: "documentation (TEST-NET-3)" },
  { range: "224.0.0.0/4", name: "multicast" },
  { range: "240.0.0.0/4", name: "reserved" },
  { range: "255.255.255.255/32", name: "limited broadcast" },
];

/** https://www.iana.org/assignments/iana-ipv6-special-registry, and what has registries of its own. */
const ofSix: readonly SpecialRange[] = [
  { range: "::1/128", name: "loopback" },
  { range: "::/128", name: "unspecified" },
  { range: "::/96", name: "IPv4-compatible, deprecated" },
  { range: "::ffff:0:0/96", name: "IPv4-mapped" },
  {
    range: "64:ff9b::/96",
    name: "IPv4-IPv6 translation",
    reachable: "it carries an IPv4 address, and where a translator leads is not ours to know",
  },
  { range: "64:ff9b:1::/48", name: "IPv4-IPv6 translation, local use" },
  { range: "100::/64", name: "discard only" },
  { range: "100:0:0:1::/64", name: "dummy prefix" },
  { range: "2001::/23", name: "IETF protocol assignments" },
  { range: "2001::/32", name: "Teredo" },
  { range: "2001:1::1/128", name: "Port Control Protocol anycast", reachable: "it steers the NAT of our own network" },
  { range: "2001:1::2/128", name: "TURN anycast", reachable: anycast },
  { range: "2001:1::3/128", name: "DNS-SD service registration anycast", reachable: anycast },
  { range: "2001:2::/48", name: "benchmarking" },
  { range: "2001:3::/32", name: "AMT", reachable: anycast },
  { range: "2001:4:112::/48", name: "AS112-v6", reachable: anycast },
  { range: "2001:10::/28", name: "deprecated (ORCHID)" },
  { range: "2001:20::/28", name: "ORCHIDv2", reachable: "an identifier, which no network routes" },
  { range: "2001:30::/28", name: "drone remote ID", reachable: "an identifier, which no network routes" },
  { range: "2001:db8::/32", name: "documentation" },
  { range: "2002::/16", name: "6to4" },
  { range: "2620:4f:8000::/48", name: "direct delegation AS112 service", reachable: anycast },
  { range: "3fff::/20", name: "documentation" },
  { range: "5f00::/16", name: "segment routing SIDs" },
  { range: "fc00::/7", name: "unique local" },
  { range: "fe80::/10", name: "link-local unicast" },
  { range: "fec0::/10", name: "site-local, deprecated" },
  { range: "ff00::/8", name: "multicast" },
];

export type Block = SpecialRange & { readonly family: 4 | 6; readonly first: bigint; readonly last: bigint };

export const specialBlocks: readonly Block[] = [
  ...ofFour.map((special) => blockOf(special, 4)),
  ...ofSix.map((special) => blockOf(special, 6)),
];

function blockOf(special: SpecialRange, family: 4 | 6): Block {
  const [address = "", bits = ""] = special.range.split("/");
  const free = BigInt((family === 4 ? 32 : 128) - Number(bits));
  const first = numberOf(address);
  return { ...special, family, first, last: first | ((1n << free) - 1n) };
}

/** What the internet is made of: not in the registries and, for IPv6, among what has been given out (2000::/3). */
export function isPublic(address: bigint, family: 4 | 6): boolean {
  if (family === 4 && (address < 0n || address >> 32n !== 0n)) return false;
  if (family === 4 && address === numberOf("168.63.129.16")) return false; // a cloud's host agent
  if (family === 6 && address >> 125n !== 1n) return false;
  return !specialBlocks.some((block) => block.family === family && block.first <= address && address <= block.last);
}

export function numberOf(text: string): bigint {
  if (text.includes(".")) return text.split(".").reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const [head = "", tail] = text.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const missing = 8 - head.length - (tail?.length ?? 0);
  const groups = [...head, ...Array<string>(missing).fill("0"), ...(tail ?? [])];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

export function textOf(address: bigint, family: 4 | 6): string {
  const [many, width, base] = family === 4 ? [4, 8n, 10] : [8, 16n, 16];
  const parts = Array.from(
    { length: many },
    (_, at) => (address >> (width * BigInt(many - 1 - at))) & ((1n << width) - 1n),
  );
  return parts.map((part) => part.toString(base)).join(family === 4 ? "." : ":");
}

/** The IPv6 addresses that stand for an IPv4 address, by the way they do it. */
export function carriersOf(four: bigint): Readonly<Record<string, string>> {
  const carriers = {
    "IPv4-mapped": numberOf("::ffff:0:0") | four,
    "IPv4-compatible": four,
    NAT64: numberOf("64:ff9b::") | four,
    "local NAT64": numberOf("64:ff9b:1::") | four,
    // RFC 6052: behind a prefix of 48 bits the address is parted by an octet of zeros.
    "local NAT64, parted": numberOf("64:ff9b:1::") | ((four >> 16n) << 64n) | ((four & 0xffffn) << 40n),
    "6to4": numberOf("2002::1") | (four << 80n),
    // The client's port and address are kept with each bit turned.
    Teredo: numberOf("2001:0:4136:e378:8000:63bf::") | (four ^ 0xffff_ffffn),
  };
  return Object.fromEntries(Object.entries(carriers).map(([way, address]) => [way, textOf(address, 6)]));
}

/** How else an IPv4 address may stand in a URL. */
export function oddFormsOf(four: bigint): Readonly<Record<string, string>> {
  const bytes = textOf(four, 4).split(".").map(Number);
  const [first, second] = bytes;
  return {
    decimal: String(four),
    octal: bytes.map((byte) => `0${byte.toString(8)}`).join("."),
    "octal, one number": `0${four.toString(8)}`,
    hexadecimal: bytes.map((byte) => `0x${byte.toString(16)}`).join("."),
    "hexadecimal, one number": `0x${four.toString(16)}`,
    "two parts": `${first}.${four & 0xff_ffffn}`,
    "three parts": `${first}.${second}.${four & 0xffffn}`,
    "a dot at the end": `${bytes.join(".")}.`,
    "wide digits": bytes.join(".").replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    "wide dots": bytes.join("。"),
  };
}
