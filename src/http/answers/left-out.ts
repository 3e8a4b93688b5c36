import type { FastifyReply } from "fastify";

const header = "x-colloquy-left-out";
const [mostNames, longestName] = [20, 64];

/** Names what nobody who answers will read, besides what was named before; clients send the names, a header takes few characters. */
export function tellLeftOut(reply: FastifyReply, names: readonly string[]): void {
  const told = names.map((name) => name.replaceAll(/[^\w.:[\]() -]/g, "").slice(0, longestName)).filter(Boolean);
  if (told.length === 0) return;
  const before = reply.getHeader(header);
  reply.header(header, [...(before === undefined ? [] : [String(before)]), ...told.slice(0, mostNames)].join(", "));
}
