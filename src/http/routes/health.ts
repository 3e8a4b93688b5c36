import { z } from "zod";
import { endpoint } from "../endpoint.ts";

export const health = endpoint({
  tag: "server",
  summary: "Is the server up",
  description:
    "`?verbose` adds the version and the models, and needs a login where there are accounts; to admins it says all: where the " +
    "database is, whether files are shared, how many runs are at work.",
  open: ({ query }) => !Object.hasOwn(query as object, "verbose"),
  takesHead: true,
  query: z.object({ verbose: z.string().optional() }),
  answers: { 200: z.looseObject({ status: z.literal("ok") }) },
  async handle({ query, caller, services }) {
    if (query.verbose === undefined) return { status: "ok" };
    const details = await services.health();
    if (caller.role === "admin") return { status: "ok", ...details };
    const { version, models } = details;
    return { status: "ok", version, models };
  },
});
