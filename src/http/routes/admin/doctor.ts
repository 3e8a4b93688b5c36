import { findingSchema } from "../../../protocol/people/overview.ts";
import { endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";

export const examine = endpoint({
  needs: "admin:settings",
  tag: "admin",
  summary: "Check the database and its surroundings",
  description: "What `colloquy doctor` checks. It reads every row, so don't ask every minute.",
  answers: { 200: listOf(findingSchema) },
  async handle({ services }) {
    return { data: await services.examine() };
  },
});
