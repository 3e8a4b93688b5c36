import { z } from "zod";
import { findingSchema } from "../../../protocol/people/overview.ts";
import { endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";

export const examine = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "Check the database and its surroundings",
  description:
    "What `./colloquy doctor` checks. Of many conversations, runs and documents it reads the newest and some others; all of them only " +
    "with `all=true`, so don't ask that every minute.",
  query: z.object({ all: z.enum(["true", "false"]).optional() }),
  answers: { 200: listOf(findingSchema) },
  async handle({ query: { all }, services }) {
    return { data: await services.examine({ all: all === "true" }) };
  },
});
