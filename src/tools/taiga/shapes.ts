import { z } from "zod";
import { TaigaFailure } from "./failure.ts";

/** What Taiga sends, as far as it is read; anything else is let through unseen. */
export function parsed<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  what: string,
  /** `inDoubt`: it is what a write was answered, which may have been done all the same. */
  { inDoubt = false } = {},
): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.length ? `${issue.path.join(".")}: ` : "";
  throw new TaigaFailure(0, `Taiga: its answer is not a ${what} (${where}${issue?.message}).`, { inDoubt });
}

export const milestoneSchema = z.looseObject({
  id: z.int(),
  name: z.string(),
  slug: z.string(),
  project: z.int(),
  closed: z.boolean(),
  estimated_start: z.string().nullish(),
  estimated_finish: z.string().nullish(),
  total_points: z.number().nullish(),
  closed_points: z.number().nullish(),
  user_stories: z.array(z.unknown()).nullish(),
});
export type WireMilestone = z.infer<typeof milestoneSchema>;

/** What stories and tasks have in common. */
export const workSchema = z.looseObject({
  id: z.int(),
  ref: z.int(),
  version: z.int(),
  project: z.int(),
  subject: z.string(),
  description: z.string().nullish(),
  milestone: z.int().nullish(),
  milestone_slug: z.string().nullish(),
  status: z.int().nullish(),
  status_extra_info: z.looseObject({ name: z.string(), is_closed: z.boolean() }).nullish(),
  assigned_to: z.int().nullish(),
  assigned_to_extra_info: z.looseObject({ username: z.string() }).nullish(),
  tags: z.array(z.tuple([z.string()], z.unknown())).nullish(),
  total_points: z.number().nullish(),
  external_reference: z.array(z.string()).nullish(),
  user_story: z.int().nullish(),
});
export type WireWork = z.infer<typeof workSchema>;

export function shownMilestone(milestone: WireMilestone) {
  const { id, name, closed, estimated_start: start, estimated_finish: finish, user_stories: stories } = milestone;
  return {
    id,
    name,
    ...(start && finish ? { dates: `${start} to ${finish}` } : {}),
    closed,
    ...(stories ? { user_stories: stories.length } : {}),
    ...(milestone.total_points ? { points: milestone.total_points, closed_points: milestone.closed_points ?? 0 } : {}),
  };
}

/** As a model and a client see a story or task: no more than they need to name and change it. */
export function shownWork(work: WireWork, { withDescription = false } = {}) {
  const { id, ref, subject, description, milestone, user_story: story } = work;
  const tags = (work.tags ?? []).map(([tag]) => tag).filter((tag) => !/^colloquy:/.test(tag));
  return {
    id,
    ref,
    subject,
    ...(story ? { user_story_id: story } : {}),
    ...(milestone ? { milestone_id: milestone } : {}),
    ...(work.status_extra_info ? { status: work.status_extra_info.name } : {}),
    ...(work.assigned_to_extra_info ? { assigned_to: work.assigned_to_extra_info.username } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(work.total_points ? { points: work.total_points } : {}),
    ...(withDescription && description ? { description: description.slice(0, 4000) } : {}),
  };
}
