/** Where an address counts as from: of IPv6 the network, since whoever has one address of it has them all. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!ip.includes(":")) return ip;
  const [head = "", tail] = (ip.split("%")[0] ?? "").split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  const network = [...first, ...gap, ...last].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
