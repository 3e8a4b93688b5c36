import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { requireAdmin } from "../require-admin.ts";
import { listOf } from "../schemas.ts";

const findingSchema = z.object({
  grade: z.enum(["ok", "note", "trouble"]).describe("trouble: somebody must mend it"),
  about: z.string(),
  text: z.string(),
});

export const examine = endpoint({
  tag: "admin",
  summary: "Check the database and its surroundings",
  description: "What `colloquy doctor` checks. It reads every row, so don't ask every minute.",
  answers: { 200: listOf(findingSchema) },
  async handle({ caller, services }) {
    requireAdmin(caller);
    return { data: await services.examine() };
  },
});
