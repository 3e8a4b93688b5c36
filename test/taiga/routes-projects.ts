import { demand, ok, type Answer, type Context, type Route } from "./context.ts";
import { noMatch, notAuthenticated, notFound } from "./errors.ts";
import { Fields, text } from "./fields.ts";
import { isVisible, paginated, visibleRows } from "./lists.ts";
import { isAdmin, membershipOf, permissionsOf } from "./permissions.ts";
import { shortUser } from "./show-work.ts";
import { byId, defaultOf, type Project, type World } from "./world.ts";

export const projectRoutes: readonly Route[] = [
  { method: "GET", path: "/projects", handle: list },
  { method: "GET", path: "/projects/by_slug", handle: bySlug },
  { method: "GET", path: "/projects/:id", handle: byNumber },
  { method: "GET", path: "/projects/:id/tags_colors", handle: tagsColors },
  { method: "GET", path: "/resolver", handle: resolve },
  ofProject("/roles", (world) => world.roles.map((role) => ({ ...role, members_count: membersOf(world, role.id) }))),
  ofProject("/userstory-statuses", (world) => world.storyStatuses.map(withArchive)),
  ofProject("/task-statuses", (world) => world.taskStatuses),
  ofProject("/points", (world) => world.points),
];

/** The lists of a project's own words: for all who may see the project. */
function ofProject(path: string, rowsOf: (world: World) => readonly { readonly project: number }[]): Route {
  return {
    method: "GET",
    path,
    handle: (context) => paginated(context, visibleRows(context, rowsOf(context.world), "view_project"), (row) => row),
  };
}

function withArchive<Row extends object>(status: Row) {
  return { ...status, is_archived: false, wip_limit: null };
}

function membersOf(world: World, role: number): number {
  return world.memberships.filter((membership) => membership.role === role).length;
}

function list(context: Context): Answer {
  const { world, query } = context;
  const member = query.get("member");
  const visible = world.projects.filter(
    (project) =>
      isVisible(context, project, "view_project") &&
      (member === null ||
        world.memberships.some((each) => each.user === Number(member) && each.project === project.id)),
  );
  const byName = visible.toSorted((one, other) => one.name.localeCompare(other.name));
  return paginated(context, byName, (project) => ({
    ...shownProject(context, project),
    members: world.memberships.filter((each) => each.project === project.id).map((each) => each.user),
  }));
}

/** A project that the caller may not see is as unknown as one that is not there. */
function bySlug(context: Context): Answer {
  const project = context.world.projects.find((each) => each.slug === context.query.get("slug"));
  if (!project || !isVisible(context, project, "view_project")) throw unknownTo(context);
  return ok(wholeProject(context, project));
}

/** By its number a hidden project is refused, not denied: 403, where the slug gives 404. */
function byNumber(context: Context): Answer {
  const project = byId(context.world.projects, context.id);
  if (!project) throw unknownTo(context);
  demand(context, project, "view_project");
  return ok(wholeProject(context, project));
}

function unknownTo({ user }: Context): Error {
  return user ? notFound() : notAuthenticated();
}

function tagsColors(context: Context): Answer {
  const project = byId(context.world.projects, context.id);
  if (!project) throw noMatch("Project");
  demand(context, project, "view_project");
  return ok(project.tagsColors);
}

/** Slugs and references to ids. What the caller may not see is left out of the answer. */
function resolve(context: Context): Answer {
  const { world, query } = context;
  const fields = new Fields(Object.fromEntries(query));
  const slug = fields.required("project", text);
  fields.done();
  const project = world.projects.find((each) => each.slug === slug);
  if (!project) throw unknownTo(context);
  demand(context, project, "view_project");
  const permissions = permissionsOf(world, context.user, project);
  const found: Record<string, number> = { project: project.id };
  const look = (name: string, permission: string, row: (value: string) => { readonly id: number } | undefined) => {
    const value = query.get(name);
    if (value === null || !permissions.has(permission)) return;
    const match = row(value);
    if (!match) throw notFound();
    found[name] = match.id;
  };
  const own = <Row extends { readonly project: number }>(rows: readonly Row[]) =>
    rows.filter((row) => row.project === project.id);
  const story = (ref: string) => own(world.stories).find((each) => each.ref === Number(ref));
  const task = (ref: string) => own(world.tasks).find((each) => each.ref === Number(ref));
  look("us", "view_us", story);
  look("task", "view_tasks", task);
  look("milestone", "view_milestones", (wanted) => own(world.milestones).find((each) => each.slug === wanted));
  const ref = query.get("ref");
  const [us, other] =
    ref === null ? [] : [permissions.has("view_us") && story(ref), permissions.has("view_tasks") && task(ref)];
  if (us) found["us"] = us.id;
  else if (other) found["task"] = other.id;
  return ok(found);
}

function shownProject(context: Context, project: Project) {
  const { world, user } = context;
  const { tagsColors: colors, lastRef: _lastRef, ...kept } = project;
  const milestones = world.milestones.filter((each) => each.project === project.id);
  return {
    ...kept,
    owner: shortUser(byId(world.users, project.owner)),
    tags: Object.keys(colors),
    tags_colors: colors,
    ...{ created_date: "2026-01-05T09:00:00.000Z", modified_date: "2026-01-05T09:00:00.000Z" },
    ...{ is_backlog_activated: true, is_kanban_activated: true, is_epics_activated: false },
    ...{ is_issues_activated: true, is_wiki_activated: true, is_contact_activated: true },
    archived_code: null,
    total_milestones: milestones.length,
    total_closed_milestones: milestones.filter((each) => each.closed).length,
    default_us_status: defaultOf(world.storyStatuses, project).id,
    default_task_status: defaultOf(world.taskStatuses, project).id,
    default_points: defaultOf(world.points, project).id,
    my_permissions: [...permissionsOf(world, user, project)],
    i_am_owner: project.owner === user?.id,
    i_am_admin: isAdmin(world, user, project),
    i_am_member: membershipOf(world, user, project) !== undefined,
  };
}

/** Here what belongs to the project names it `project_id`. */
function wholeProject(context: Context, project: Project) {
  const { world } = context;
  const own = <Row extends { readonly project: number }>(rows: readonly Row[]) =>
    rows
      .filter((row) => row.project === project.id)
      .map(({ project: project_id, ...rest }) => ({ ...rest, project_id }));
  const memberships = world.memberships.filter((each) => each.project === project.id);
  return {
    ...shownProject(context, project),
    members: memberships.map((membership) => {
      const member = byId(world.users, membership.user);
      const role_name = byId(world.roles, membership.role)?.name ?? null;
      return { ...shortUser(member), full_name: member?.full_name, color: "", role: membership.role, role_name };
    }),
    total_memberships: memberships.length,
    roles: own(world.roles),
    us_statuses: own(world.storyStatuses).map(withArchive),
    task_statuses: own(world.taskStatuses),
    points: own(world.points),
    milestones: world.milestones
      .filter((each) => each.project === project.id)
      .toSorted((one, other) => one.estimated_start.localeCompare(other.estimated_start))
      .map(({ id, name, slug, closed }) => ({ id, name, slug, closed })),
    ...{ epic_statuses: [], issue_statuses: [], issue_types: [], priorities: [], severities: [], swimlanes: [] },
  };
}
