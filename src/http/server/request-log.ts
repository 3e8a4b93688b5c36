import type { FastifyBaseLogger } from "fastify";
import type { Log } from "../../protocol/base/log.ts";

/**
 * Adapts our log for Fastify. Omits requests and replies, whose headers contain secrets, and messages that whoever started the
 * server prints itself, such as the address.
 */
export function fastifyLog(log: Log, bound: object = {}): FastifyBaseLogger {
  const writer = (level: keyof Log) => (first: unknown, text?: string) => {
    if (typeof first === "string") return log[level](bound, first);
    const { req: _request, res: _reply, ...fields } = typeof first === "object" ? { ...first, req: 0, res: 0 } : {};
    log[level]({ ...bound, ...fields }, text ?? "");
  };
  const nothing = () => {};
  return {
    level: "info",
    fatal: writer("error"),
    error: writer("error"),
    warn: writer("warn"),
    info: writer("debug"),
    debug: writer("debug"),
    trace: nothing,
    silent: nothing,
    child: (fields) => fastifyLog(log, { ...bound, ...fields }),
  };
}
