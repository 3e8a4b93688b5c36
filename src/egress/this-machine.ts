import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** Whether connections to this address stay on this machine: any loopback address, or an address of the machine itself. */
export function isThisMachine(address: string): boolean {
  // One list for both families on purpose: an IPv4 address is found in its IPv6 form (::ffff:…) too.
  const own = new BlockList();
  own.addSubnet("127.0.0.0", 8, "ipv4");
  own.addSubnet("0.0.0.0", 8, "ipv4");
  own.addAddress("::", "ipv6");
  own.addAddress("::1", "ipv6");
  for (const interfaces of Object.values(networkInterfaces()))
    for (const { address: ours, family } of interfaces ?? [])
      own.addAddress(ours.split("%")[0]!, family === "IPv6" ? "ipv6" : "ipv4");
  const plain = address.split("%")[0]!;
  const version = isIP(plain);
  return version !== 0 && own.check(plain, version === 6 ? "ipv6" : "ipv4");
}
