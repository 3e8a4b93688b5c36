import { z } from "zod";
import { endpoint } from "../endpoint.ts";

export const health = endpoint({
  tag: "server",
  summary: "Is the server up",
  description: "`?verbose` adds details, and needs a login where there are accounts.",
  open: ({ query }) => !Object.hasOwn(query as object, "verbose"),
  query: z.object({ verbose: z.string().optional() }),
  answers: { 200: z.looseObject({ status: z.literal("ok") }) },
  async handle({ query, services }) {
    return query.verbose === undefined ? { status: "ok" } : { status: "ok", ...(await services.health()) };
  },
});
