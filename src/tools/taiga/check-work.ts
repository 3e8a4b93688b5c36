import type { PlannedWrite } from "../../protocol/agents/tools.ts";
import type { ProjectSession } from "./access.ts";
import { readWork } from "./change-work.ts";
import type { PreflightContext } from "./define-taiga-tool.ts";
import { TaigaFailure } from "./failure.ts";
import type { Id } from "./fields.ts";
import { milestoneSchema, parsed } from "./shapes.ts";
import { type WorkKind, story, task, viewRight } from "./work-kinds.ts";

/**
 * That a story or task is there, and still will be after all that is planned before. Throws TaigaFailure if not; what the
 * caller may not see can't be looked at, and passes.
 */
export async function checkWork(
  desk: ProjectSession,
  { kind, id }: { readonly kind: WorkKind; readonly id: Id },
  { planned, signal }: PreflightContext,
): Promise<void> {
  checkKept(kind, id, planned);
  if (typeof id === "string") {
    const maker = planned.find((write) => write.id === id);
    if (maker?.tool !== `taiga_create_${kind.type}`) throw new TaigaFailure(0, `${id} is no ${kind.words}.`);
    const ofStory = maker.arguments[idField(story)];
    if (kind === task && ofStory !== undefined) checkKept(story, ofStory, planned);
  } else if (desk.project.permissions.includes(viewRight(kind))) {
    const { user_story: ofStory } = await readWork(desk, { path: kind.path, id, signal });
    if (kind === task && ofStory) checkKept(story, ofStory, planned);
  }
}

/** That a sprint is there; none can be planned. Throws TaigaFailure. */
export async function checkMilestone(
  desk: ProjectSession,
  id: Id,
  { signal }: Pick<PreflightContext, "signal">,
): Promise<void> {
  if (typeof id === "string") throw new TaigaFailure(0, `${id} is no sprint.`);
  const { project } = desk;
  const isKnown = project.milestones.some((milestone) => milestone.id === id);
  if (isKnown || !project.permissions.includes("view_milestones")) return;
  const found = parsed(milestoneSchema, await desk.ask({ path: `/milestones/${id}`, signal }), "sprint");
  if (found.project !== project.id) throw new TaigaFailure(404, `Sprint ${id} is not in this project.`);
}

function checkKept(kind: WorkKind, id: unknown, planned: readonly PlannedWrite[]): void {
  const end = planned.find(
    (write) => write.tool === `taiga_delete_${kind.type}` && write.arguments[idField(kind)] === id,
  );
  if (end) throw new TaigaFailure(0, `The ${kind.words} ${String(id)} is deleted before, by ${end.id}.`);
}

function idField({ type }: WorkKind): string {
  return `${type}_id`;
}
