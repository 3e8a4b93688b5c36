import { BlockList, isIP } from "node:net";

/** Where clouds tell a machine its own secrets: link-local addresses, and those that some clouds have chosen. */
const refused = new BlockList();
refused.addSubnet("169.254.0.0", 16, "ipv4");
refused.addSubnet("fe80::", 10, "ipv6");
refused.addAddress("100.100.100.200", "ipv4");
refused.addAddress("168.63.129.16", "ipv4");
refused.addAddress("fd00:ec2::254", "ipv6");
const names = /^(metadata|metadata\.google\.internal|instance-data(\.ec2\.internal)?)\.?$/i;

export const refusedHost = "is where a cloud tells this machine its secrets: it is not asked";

/** Of an address that came through the API; of what is no address, no. */
export function isRefusedHost(address: unknown): boolean {
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (!url) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const version = isIP(host);
  return version === 0 ? names.test(host) : refused.check(host, version === 4 ? "ipv4" : "ipv6");
}
