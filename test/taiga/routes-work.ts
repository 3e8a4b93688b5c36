import { demand, hidden, ok, type Answer, type Context, type Route } from "./context.ts";
import { badRequest, blocked, noMatch, notAuthenticated } from "./errors.ts";
import { bool, date, externalReference, Fields, idIn, line, orNull, tagColors, tags, text } from "./fields.ts";
import { keep, ordered, workFilters } from "./filters.ts";
import { isVisible, paginated, visibleRows } from "./lists.ts";
import { change, checkVersion } from "./versions.ts";
import { byId, defaultOf, known, nextId, nextRef, remove } from "./world.ts";
import type { Milestone, Project, Status, Work, World } from "./world.ts";

type Test<Row> = (row: Row) => boolean;

/** In what stories and tasks differ. */
export type Kind<Row extends Work> = {
  readonly path: string;
  readonly model: string;
  readonly view: string;
  /** One of them is enough. */
  readonly add: readonly string[];
  readonly modify: string;
  readonly comment: string;
  readonly remove: string;
  readonly rows: (world: World) => Row[];
  readonly statuses: (world: World) => readonly Status[];
  readonly filters: (context: Context) => readonly Test<Row>[];
  readonly orderBy: readonly (keyof Row & string)[];
  readonly listHeaders?: (context: Context) => Answer["headers"];
  readonly listed: (context: Context, row: Row) => unknown;
  readonly whole: (world: World, row: Row) => unknown;
  /** The fields it has beyond those of all work. */
  readonly read: (fields: Fields, world: World) => Partial<Row>;
  readonly blank: (world: World, project: Project) => Omit<Row, keyof Work>;
  /** What must hold before it is kept; gives what follows from the rest. */
  readonly settle: (world: World, draft: Row) => Partial<Row>;
  readonly afterChange?: (world: World, row: Row) => void;
  readonly afterRemove?: (world: World, row: Row) => void;
};

export function workRoutes<Row extends Work>(kind: Kind<Row>): readonly Route[] {
  const { path } = kind;
  return [
    { method: "GET", path, handle: (context) => list(kind, context) },
    { method: "POST", path, handle: (context) => create(kind, context) },
    { method: "GET", path: `${path}/by_ref`, handle: (context) => byRef(kind, context) },
    { method: "GET", path: `${path}/:id`, handle: (context) => retrieve(kind, context, rowOf(kind, context)) },
    { method: "PATCH", path: `${path}/:id`, handle: (context) => update(kind, context) },
    { method: "PUT", path: `${path}/:id`, handle: (context) => update(kind, context) },
    { method: "DELETE", path: `${path}/:id`, handle: (context) => destroy(kind, context) },
  ];
}

function list<Row extends Work>(kind: Kind<Row>, context: Context): Answer {
  const { query, world } = context;
  const visible = visibleRows(context, kind.rows(world), kind.view);
  const kept = keep(visible, [...workFilters(query, kind.statuses(world)), ...kind.filters(context)]);
  const answer = paginated(context, ordered(query, kept, kind.orderBy), (row) => kind.listed(context, row));
  return { ...answer, headers: { ...answer.headers, ...kind.listHeaders?.(context) } };
}

function rowOf<Row extends Work>(kind: Kind<Row>, { world, id }: Context): Row | undefined {
  return byId(kind.rows(world), id);
}

/** Reading tells "not there" (404) from "not for you" (401, 403). */
function retrieve<Row extends Work>(kind: Kind<Row>, context: Context, row: Row | undefined): Answer {
  if (!row) throw noMatch(kind.model);
  demand(context, known(context.world.projects, row.project), kind.view);
  return ok(kind.whole(context.world, row));
}

function byRef<Row extends Work>(kind: Kind<Row>, context: Context): Answer {
  const { query, world } = context;
  const [ref, project, slug] = [query.get("ref"), query.get("project"), query.get("project__slug")];
  // Taiga answers these two with a bare text.
  if (ref === null) return { status: 400, body: "ref param is needed" };
  if (project === null && slug === null) return { status: 400, body: "project or project__slug param is needed" };
  const row = kind.rows(world).find((each) => {
    const own = known(world.projects, each.project);
    return (
      each.ref === Number(ref) && (project === null || own.id === Number(project)) && (slug ?? own.slug) === own.slug
    );
  });
  return retrieve(kind, context, row);
}

function create<Row extends Work>(kind: Kind<Row>, context: Context): Answer {
  const { world, user, body } = context;
  const fields = new Fields(body);
  const projectId = fields.required("project", idIn(world.projects));
  fields.required("subject", line());
  const given = { ...readWork(kind, fields, world, projectId), ...kind.read(fields, world) };
  fields.done();
  const project = known(world.projects, projectId ?? 0);
  demand(context, project, ...kind.add);
  if (!user) throw notAuthenticated();
  const row = keepNew(kind, world, {
    project,
    owner: user.id,
    fields: given as Partial<Row>,
    colors: tagColors(body["tags"]),
  });
  return { status: 201, body: kind.whole(world, row) };
}

export type NewWork<Row> = {
  readonly project: Project;
  readonly owner: number;
  readonly fields: Partial<Row>;
  readonly colors?: Readonly<Record<string, string>>;
};

/** Checks what must hold, and keeps a new row; id and reference are spent only then. */
export function keepNew<Row extends Work>(
  kind: Kind<Row>,
  world: World,
  { project, owner, fields, colors = {} }: NewWork<Row>,
): Row {
  if (project.blocked_code !== null) throw blocked();
  const now = new Date().toISOString();
  const work: Work = {
    ...{ id: 0, ref: 0, version: 1, project: project.id, owner, created_date: now, modified_date: now },
    ...{ milestone: null, status: defaultOf(kind.statuses(world), project).id, assigned_to: null, subject: "" },
    ...{ description: "", tags: [], external_reference: null, is_blocked: false, blocked_note: "", due_date: null },
    ...{ history: [], comments: [] },
  };
  const draft = { ...work, ...kind.blank(world, project), ...fields } as Row;
  const settled = kind.settle(world, draft);
  noteTags(project, draft.tags, colors);
  const row = { ...draft, ...settled, id: nextId(kind.rows(world)), ref: nextRef(project) };
  kind.rows(world).push(row);
  return row;
}

function update<Row extends Work>(kind: Kind<Row>, context: Context): Answer {
  const { world, body } = context;
  const row = seen(kind, context);
  const project = known(world.projects, row.project);
  const onlyComment = Object.keys(body).every((field) => field === "comment" || field === "version");
  demand(context, project, kind.modify, ...(onlyComment && "comment" in body ? [kind.comment] : []));
  const fields = new Fields(body);
  if (context.method === "PUT") fields.required("subject", line());
  const moved = fields.optional("project", idIn(world.projects));
  if (moved !== undefined && moved !== project.id) fields.refuse("project", "Moving to another project is not served.");
  const given = { ...readWork(kind, fields, world, project.id), ...kind.read(fields, world) } as Partial<Row>;
  fields.done();
  checkVersion(row, body);
  if (project.blocked_code !== null) throw blocked();
  const settled = kind.settle(world, { ...row, ...given });
  noteTags(project, given.tags ?? [], tagColors(body["tags"]));
  change<Row>(row, { ...given, ...settled }, text(body["comment"]));
  kind.afterChange?.(world, row);
  return ok(kind.whole(world, row));
}

function destroy<Row extends Work>(kind: Kind<Row>, context: Context): Answer {
  const { world } = context;
  const row = seen(kind, context);
  const project = known(world.projects, row.project);
  demand(context, project, kind.remove);
  if (project.blocked_code !== null) throw blocked();
  remove(kind.rows(world), (each) => each.id === row.id);
  kind.afterRemove?.(world, row);
  return { status: 204 };
}

function seen<Row extends Work>(kind: Kind<Row>, context: Context): Row {
  const row = rowOf(kind, context);
  const project = row && known(context.world.projects, row.project);
  if (!row || !project || !isVisible(context, project, kind.view)) throw hidden(context);
  return row;
}

function readWork<Row extends Work>(kind: Kind<Row>, fields: Fields, world: World, projectId: number | undefined) {
  const given = {
    subject: fields.optional("subject", line()),
    description: fields.optional("description", text),
    milestone: fields.optional("milestone", orNull(idIn(world.milestones))),
    status: fields.optional("status", orNull(idIn(kind.statuses(world)))),
    assigned_to: fields.optional("assigned_to", orNull(idIn(world.users))),
    external_reference: fields.optional("external_reference", externalReference),
    is_blocked: fields.optional("is_blocked", bool),
    blocked_note: fields.optional("blocked_note", text),
    due_date: fields.optional("due_date", orNull(date)),
  };
  const { assigned_to: assignee } = given;
  const isMember = world.memberships.some((each) => each.user === assignee && each.project === projectId);
  if (assignee != null && !isMember) fields.refuse("assigned_to", "The user must be a project member.");
  const project = byId(world.projects, projectId);
  // Without a status it becomes the project's default.
  const status = given.status === null && project ? defaultOf(kind.statuses(world), project).id : given.status;
  return defined({ ...given, status, tags: fields.optional("tags", tags) });
}

function defined(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A project knows the tags that were ever used in it; a colour counts only for a tag that is new. */
function noteTags(project: Project, names: readonly string[], colors: Readonly<Record<string, string>>): void {
  for (const name of names) {
    if (!Object.hasOwn(project.tagsColors, name)) project.tagsColors[name] = colors[name] ?? null;
  }
}

export function milestoneOf(world: World, work: Work): Milestone | undefined {
  return byId(world.milestones, work.milestone);
}

/** Bulk requests say first that the project is unknown, then that it is not the caller's. */
export function bulkProject(context: Context, fields: Fields, id: number | undefined): Project {
  const project = byId(context.world.projects, id);
  if (id !== undefined && !project) fields.refuse("project_id", "There's no project with that id");
  fields.done();
  if (!project) throw badRequest("Wrong arguments.");
  return project;
}

/** Not empty, trimmed. */
export function linesOf(content: string): readonly string[] {
  return content
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);
}
