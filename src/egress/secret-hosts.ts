import { BlockList, isIP } from "node:net";

/** Where clouds tell a machine its own secrets: link-local addresses, and those that some clouds have chosen. */
const refused = new BlockList();
refused.addSubnet("169.254.0.0", 16, "ipv4");
refused.addSubnet("fe80::", 10, "ipv6");
refused.addAddress("100.100.100.200", "ipv4");
refused.addAddress("168.63.129.16", "ipv4");
refused.addAddress("192.0.0.192", "ipv4");
// All of Amazon's: its machines are told their secrets at one, its clusters theirs at another.
refused.addSubnet("fd00:ec2::", 32, "ipv6");
for (const address of ["fd20:ce::254", "fd00:42::42"]) refused.addAddress(address, "ipv6");
// The same within an IPv6 address: IPv4-compatible, translated, NAT64 and 6to4; mapped ones Node.js reads as what they carry.
for (const [hex, bits] of [
  ["a9fe:0", 16],
  ["6464:64c8", 32],
  ["a83f:8110", 32],
  ["c000:c0", 32],
] as const) {
  refused.addSubnet(`::${hex}`, 96 + bits, "ipv6");
  refused.addSubnet(`::ffff:0:${hex}`, 96 + bits, "ipv6");
  refused.addSubnet(`64:ff9b::${hex}`, 96 + bits, "ipv6");
  refused.addSubnet(`2002:${hex}::`, 16 + bits, "ipv6");
}
// Who uses these decides where in them an IPv4 address stands (NAT64 of one's own), or hides it (Teredo).
refused.addSubnet("64:ff9b:1::", 48, "ipv6");
refused.addSubnet("2001::", 32, "ipv6");
const names = /^(metadata|metadata\.google\.internal|instance-data(\.ec2\.internal)?)\.?$/i;

export const refusedHost = "is where a cloud tells this machine its secrets: it is not asked";

/** Of an address that came through the API; of what is no address, no. */
export function isRefusedHost(address: unknown): boolean {
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (!url) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? names.test(host) : isRefusedAddress(host);
}

/** Of what a name resolves to, too. */
export function isRefusedAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && refused.check(address, version === 4 ? "ipv4" : "ipv6");
}
