import { demand, ok, type Answer, type Context, type Route } from "./context.ts";
import { notAuthenticated, permissionDenied, wrongDetail } from "./errors.ts";
import { bool, Fields, idsByRole, line, whole } from "./fields.ts";
import { flag } from "./filters.ts";
import { bulkProject, keepNew, linesOf, milestoneOf, workRoutes, type Kind } from "./routes-work.ts";
import { isClosedStory, listedStory, wholeStory } from "./show-work.ts";
import { byId, known, remove, type Story, type World } from "./world.ts";

const stories: Kind<Story> = {
  path: "/userstories",
  model: "UserStory",
  view: "view_us",
  add: ["add_us_to_project", "add_us"],
  modify: "modify_us",
  comment: "comment_us",
  remove: "delete_us",
  rows: (world) => world.stories,
  statuses: (world) => world.storyStatuses,
  filters: ({ query, world }) => flag(query, "is_closed", (story: Story) => isClosedStory(world, story)),
  orderBy: ["backlog_order", "sprint_order", "kanban_order", "created_date", "modified_date", "subject", "status"],
  listHeaders: ({ query, world }) => {
    const inProject = world.stories.filter((story) => story.project === Number(query.get("project")));
    if (!query.has("project")) return {};
    const backlog = inProject.filter((story) => story.milestone === null).length;
    return {
      "Taiga-Info-Userstories-Without-Swimlane": String(inProject.length > 0),
      ...(query.get("milestone") === "null" && { "Taiga-Info-Backlog-Total-Userstories": String(backlog) }),
    };
  },
  listed: ({ query, world }, story) => {
    if (query.has("only_ref")) return { id: story.id, ref: story.ref };
    return listedStory(world, story, { withTasks: query.has("include_tasks") });
  },
  whole: wholeStory,
  read: (fields) => {
    const given = {
      points: fields.optional("points", idsByRole) as Story["points"] | undefined,
      backlog_order: fields.optional("backlog_order", whole),
      sprint_order: fields.optional("sprint_order", whole),
      client_requirement: fields.optional("client_requirement", bool),
      team_requirement: fields.optional("team_requirement", bool),
    };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  },
  blank: (world, project) => ({
    points: noPoints(world, project.id),
    ...{ backlog_order: Date.now(), sprint_order: Date.now(), kanban_order: Date.now() },
    ...{ client_requirement: false, team_requirement: false },
  }),
  settle: (world, draft) => {
    const milestone = milestoneOf(world, draft);
    if (milestone && milestone.project !== draft.project) {
      throw permissionDenied("You don't have permissions to set this sprint to this user story.");
    }
    if (known(world.storyStatuses, draft.status).project !== draft.project) {
      throw permissionDenied("You don't have permissions to set this status to this user story.");
    }
    return { points: { ...pointsBefore(world, draft), ...checkedPoints(world, draft) } };
  },
  afterChange: tasksFollow,
  afterRemove: (world, story) => remove(world.tasks, (task) => task.user_story === story.id),
};

export const storyRoutes: readonly Route[] = [
  { method: "POST", path: "/userstories/bulk_create", handle: bulkCreate },
  { method: "POST", path: "/userstories/bulk_update_milestone", handle: bulkUpdateMilestone },
  ...workRoutes(stories),
];

/** 200, not 201. */
function bulkCreate(context: Context): Answer {
  const { world, user, body } = context;
  const fields = new Fields(body);
  const projectId = fields.required("project_id", whole);
  const lines = fields.required("bulk_stories", line(100_000));
  const status = fields.optional("status_id", whole);
  if (status !== undefined && byId(world.storyStatuses, status)?.project !== projectId) {
    fields.refuse("status_id", "Invalid user story status id. The status must belong to the same project.");
  }
  const project = bulkProject(context, fields, projectId);
  demand(context, project, ...stories.add);
  if (!user) throw notAuthenticated();
  const given = status === undefined ? {} : { status };
  const made = linesOf(lines ?? "").map((subject) =>
    keepNew(stories, world, { project, owner: user.id, fields: { subject, ...given } }),
  );
  return ok(made.map((story) => wholeStory(world, story)));
}

/** Moves stories and their tasks to a sprint. Versions stay as they are. */
function bulkUpdateMilestone(context: Context): Answer {
  const { world, body } = context;
  const fields = new Fields(body);
  const projectId = fields.required("project_id", whole);
  const milestone = byId(world.milestones, fields.required("milestone_id", whole));
  if (milestone?.project !== projectId) fields.refuse("milestone_id", "The milestone isn't valid for the project");
  const moves = Array.isArray(body["bulk_stories"]) ? (body["bulk_stories"] as unknown[]) : [];
  if (moves.length === 0) fields.refuse("bulk_stories", "This field is required.");
  const moved = moves.map((move) => byId(world.stories, (move as { us_id?: unknown }).us_id));
  if (moved.some((story) => story?.project !== projectId)) {
    fields.refuse("bulk_stories", "All the user stories must be from the same project");
  }
  const project = bulkProject(context, fields, projectId);
  demand(context, project, "modify_us");
  moves.forEach((move, index) => {
    const story = moved[index];
    if (!story || !milestone) return;
    story.milestone = milestone.id;
    story.sprint_order = Number((move as { order?: unknown }).order ?? story.sprint_order);
    story.history.push(["milestone", "sprint_order"]);
    tasksFollow(world, story);
  });
  return { status: 204 };
}

/** A story takes its tasks along to another sprint, without a new version of theirs. */
function tasksFollow(world: World, story: Story): void {
  for (const task of world.tasks) if (task.user_story === story.id) task.milestone = story.milestone;
}

/** Every role that estimates begins with the points "?". */
function noPoints(world: World, project: number): Story["points"] {
  const unknown = world.points.find((points) => points.project === project && points.value === null);
  const roles = world.roles.filter((role) => role.project === project && role.computable);
  return Object.fromEntries(roles.map((role) => [String(role.id), unknown?.id ?? 0]));
}

function pointsBefore(world: World, draft: Story): Story["points"] {
  return byId(world.stories, draft.id)?.points ?? noPoints(world, draft.project);
}

function checkedPoints(world: World, draft: Story): Story["points"] {
  const entries = Object.entries(draft.points as Readonly<Record<string, unknown>>).map(([roleId, pointsId]) => {
    const role = byId(world.roles, roleId);
    if (role?.project !== draft.project || !role.computable) {
      throw wrongDetail("points", `Invalid role id '${roleId}'`);
    }
    const points = byId(world.points, pointsId);
    if (points?.project !== draft.project) throw wrongDetail("points", `Invalid points id '${String(pointsId)}'`);
    return [roleId, points.id] as const;
  });
  return Object.fromEntries(entries);
}
