import { demand, hidden, ok, type Answer, type Context, type Route } from "./context.ts";
import { blocked, fieldErrors, noMatch, notAuthenticated } from "./errors.ts";
import { bool, date, Fields, idIn, line, whole } from "./fields.ts";
import { flag, keep, ordered } from "./filters.ts";
import { isVisible, paginated, visibleRows } from "./lists.ts";
import { shownMilestone } from "./show-work.ts";
import { byId, known, nextId, remove, uniqueSlug, type Milestone, type World } from "./world.ts";

export const milestoneRoutes: readonly Route[] = [
  { method: "GET", path: "/milestones", handle: list },
  { method: "POST", path: "/milestones", handle: create },
  { method: "GET", path: "/milestones/:id", handle: retrieve },
  { method: "PATCH", path: "/milestones/:id", handle: update },
  { method: "PUT", path: "/milestones/:id", handle: update },
  { method: "DELETE", path: "/milestones/:id", handle: destroy },
];

/** The latest first. The headers count what is there, seen or not. */
function list(context: Context): Answer {
  const { world, query } = context;
  const visible = visibleRows(context, world.milestones, "view_milestones");
  const kept = keep(
    visible,
    flag(query, "closed", (milestone: Milestone) => milestone.closed),
  );
  const latestFirst = kept.toSorted((one, other) => other.estimated_start.localeCompare(one.estimated_start));
  const rows = ordered(query, latestFirst, ["name", "estimated_start", "estimated_finish", "created_date"]);
  const answer = paginated(context, rows, (milestone) => shownMilestone(world, milestone));
  const all = world.milestones.filter((each) => each.project === Number(query.get("project")));
  if (!query.has("project")) return answer;
  const counts = {
    "Taiga-Info-Total-Opened-Milestones": String(all.filter((each) => !each.closed).length),
    "Taiga-Info-Total-Closed-Milestones": String(all.filter((each) => each.closed).length),
  };
  return { ...answer, headers: { ...answer.headers, ...counts } };
}

function retrieve(context: Context): Answer {
  const milestone = byId(context.world.milestones, context.id);
  if (!milestone) throw noMatch("Milestone");
  demand(context, known(context.world.projects, milestone.project), "view_milestones");
  return ok(shownMilestone(context.world, milestone));
}

function create(context: Context): Answer {
  const { world, user, body } = context;
  const fields = new Fields(body);
  const projectId = fields.required("project", idIn(world.projects));
  const name = fields.required("name", line(200)) ?? "";
  const estimated_start = fields.required("estimated_start", date) ?? "";
  const estimated_finish = fields.required("estimated_finish", date) ?? "";
  const order = fields.optional("order", whole) ?? 1;
  const disponibility = fields.optional("disponibility", whole) ?? 0;
  if (isTaken(world, { name, project: projectId })) fields.refuse("name", "Duplicated name");
  fields.done();
  refuseBackwards(estimated_start, estimated_finish);
  const project = known(world.projects, projectId ?? 0);
  demand(context, project, "add_milestone");
  if (!user) throw notAuthenticated();
  if (project.blocked_code !== null) throw blocked();
  const now = new Date().toISOString();
  const milestone: Milestone = {
    ...{ id: nextId(world.milestones), project: project.id, slug: uniqueSlug(world.milestones, name), name },
    ...{ owner: user.id, estimated_start, estimated_finish, order, disponibility, closed: false },
    ...{ created_date: now, modified_date: now },
  };
  world.milestones.push(milestone);
  return { status: 201, body: shownMilestone(world, milestone) };
}

/** Milestones have no versions: the last writer wins. */
function update(context: Context): Answer {
  const { world, body } = context;
  const milestone = seen(context);
  const project = known(world.projects, milestone.project);
  demand(context, project, "modify_milestone");
  const fields = new Fields(body);
  const given = {
    name: fields.optional("name", line(200)),
    estimated_start: fields.optional("estimated_start", date),
    estimated_finish: fields.optional("estimated_finish", date),
    order: fields.optional("order", whole),
    disponibility: fields.optional("disponibility", whole),
    closed: fields.optional("closed", bool),
  };
  const name = given.name ?? milestone.name;
  if (isTaken(world, { name, project: project.id, except: milestone })) fields.refuse("name", "Duplicated name");
  fields.done();
  refuseBackwards(
    given.estimated_start ?? milestone.estimated_start,
    given.estimated_finish ?? milestone.estimated_finish,
  );
  if (project.blocked_code !== null) throw blocked();
  const changes = Object.entries(given).filter(([, value]) => value !== undefined);
  Object.assign(milestone, Object.fromEntries(changes), { modified_date: new Date().toISOString() });
  return ok(shownMilestone(world, milestone));
}

/** Its stories and tasks go back to the backlog. */
function destroy(context: Context): Answer {
  const { world } = context;
  const milestone = seen(context);
  const project = known(world.projects, milestone.project);
  demand(context, project, "delete_milestone");
  if (project.blocked_code !== null) throw blocked();
  remove(world.milestones, (each) => each.id === milestone.id);
  for (const work of [...world.stories, ...world.tasks]) if (work.milestone === milestone.id) work.milestone = null;
  return { status: 204 };
}

function seen(context: Context): Milestone {
  const milestone = byId(context.world.milestones, context.id);
  const project = milestone && known(context.world.projects, milestone.project);
  if (!milestone || !project || !isVisible(context, project, "view_milestones")) throw hidden(context);
  return milestone;
}

type Name = { readonly name: string; readonly project: number | undefined; readonly except?: Milestone };

/** Letter for letter: "sprint 6" may stand beside "Sprint 6". */
function isTaken(world: World, { name, project, except }: Name): boolean {
  return world.milestones.some((each) => each !== except && each.project === project && each.name === name);
}

function refuseBackwards(start: string, finish: string): void {
  if (start > finish) throw fieldErrors({ __all__: ["The estimated start must be previous to the estimated finish."] });
}
