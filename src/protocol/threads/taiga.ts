import { z } from "zod";
import { runStatuses } from "./runs.ts";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

export const taigaSchema = z.object({
  configured: z.boolean(),
  needsToken: z.boolean().describe("false: the operator's login is yours too"),
});
export type TaigaView = Shape<typeof taigaSchema>;

/** A token as it is: of a person's login with what renews it, or of an application (`Application …`). */
export const taigaTokenSchema = z.object({
  token: z.string().describe("For X-Taiga-Token"),
  refresh: z.string().optional().describe("For X-Taiga-Refresh"),
});
export type TaigaToken = Shape<typeof taigaTokenSchema>;

const more = z.boolean().describe("There are others: search for them");

const projectSchema = z.object({ id: z.int(), slug: z.string(), name: z.string() });
export type ProjectEntry = Shape<typeof projectSchema>;

export const taigaProjectsSchema = z.object({ data: z.array(projectSchema), more });
export type TaigaProjects = Shape<typeof taigaProjectsSchema>;

const sprintSchema = z.object({
  id: z.int(),
  name: z.string(),
  closed: z.boolean(),
  start: z.string().nullable(),
  finish: z.string().nullable(),
});
export type SprintEntry = Shape<typeof sprintSchema>;

/** The newest first. */
export const taigaSprintsSchema = z.object({
  data: z.array(sprintSchema),
  more,
  project: projectSchema,
  missing: z.array(z.string()).describe("Of the rights to add stories and tasks, those that you have not"),
});
export type TaigaSprints = Shape<typeof taigaSprintsSchema>;

export const taigaRunSchema = z.object({
  id: idSchema,
  title: z.string().describe("Project and sprint"),
  status: z.enum(runStatuses),
  createdAt: timeSchema,
});
export type TaigaRun = Shape<typeof taigaRunSchema>;
