import type { FastifyReply } from "fastify";
import { z } from "zod";
import { type ReadinessProblem, readinessProblemSchema } from "../../../protocol/base/readiness.ts";
import { endpoint } from "../../server/endpoint.ts";

const unavailable = readinessProblemSchema
  .extend({ status: z.literal("unavailable") })
  .describe("This node can't work now, and why.");

/** Answers a probe of a node that can't work. */
function tellUnready(reply: FastifyReply, unready: ReadinessProblem): FastifyReply {
  return reply
    .code(503)
    .header("retry-after", 5)
    .send({ status: "unavailable", ...unready });
}

export const livez = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "Is the process alive",
  description: "Says nothing about the database: a restart would not mend that. For liveness probes.",
  open: () => true,
  takesHead: true,
  standsAlone: true,
  answers: { 200: z.object({ status: z.literal("alive") }) },
  handle: () => ({ status: "alive" }),
});

export const readyz = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "May this node be sent requests",
  description:
    "503 while it stops and while its database has not answered for ten seconds, with the reason. A node listens only " +
    "when its database is migrated, so it is not reached before. For readiness probes and load balancers.",
  open: () => true,
  takesHead: true,
  standsAlone: true,
  answers: { 200: z.object({ status: z.literal("ready") }), 503: unavailable },
  handle({ services, reply }) {
    const unready = services.unready();
    return unready ? tellUnready(reply, unready) : { status: "ready" };
  },
});

export const health = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "Is the server up",
  description:
    "503 while it can't work, as `/readyz` says. `?verbose` adds the version and the models, and needs a login where there are accounts; to admins it says all: where the " +
    "database is, whether files are shared, how many runs are at work.",
  open: ({ query }) => !Object.hasOwn(query as object, "verbose"),
  takesHead: true,
  standsAlone: true,
  query: z.object({ verbose: z.string().optional() }),
  answers: { 200: z.looseObject({ status: z.literal("ok") }), 503: unavailable },
  async handle({ query, caller, services, reply }) {
    const unready = services.unready();
    if (unready) return tellUnready(reply, unready);
    if (query.verbose === undefined) return { status: "ok" };
    const details = await services.health();
    if (caller.role === "admin") return { status: "ok", ...details };
    const { version, models } = details;
    return { status: "ok", version, models };
  },
});
