import { demand, ok, type Answer, type Context, type Route } from "./context.ts";
import { notAuthenticated, wrongArguments } from "./errors.ts";
import { bool, Fields, idIn, line, orNull, whole } from "./fields.ts";
import { exactly } from "./filters.ts";
import { bulkProject, keepNew, linesOf, milestoneOf, workRoutes, type Kind } from "./routes-work.ts";
import { listedTask, wholeTask } from "./show-work.ts";
import { byId, known, type Task } from "./world.ts";

const tasks: Kind<Task> = {
  path: "/tasks",
  model: "Task",
  view: "view_tasks",
  add: ["add_task"],
  modify: "modify_task",
  comment: "comment_task",
  remove: "delete_task",
  rows: (world) => world.tasks,
  statuses: (world) => world.taskStatuses,
  filters: ({ query }) => exactly(query, "user_story", (task: Task) => task.user_story),
  orderBy: ["us_order", "created_date", "modified_date", "subject", "status"],
  listed: ({ world }, task) => listedTask(world, task),
  whole: wholeTask,
  read: (fields, world) => {
    const given = {
      user_story: fields.optional("user_story", orNull(idIn(world.stories))),
      is_iocaine: fields.optional("is_iocaine", bool),
      us_order: fields.optional("us_order", whole),
      taskboard_order: fields.optional("taskboard_order", whole),
    };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  },
  blank: () => ({ user_story: null, is_iocaine: false, us_order: Date.now(), taskboard_order: Date.now() }),
  settle: (world, draft) => {
    const story = byId(world.stories, draft.user_story);
    // Taiga puts the story's sprint in before it compares the two, so that they cannot differ.
    const milestone = story ? story.milestone : draft.milestone;
    const elsewhere = (row: { readonly project: number } | undefined) => row && row.project !== draft.project;
    const refusal = (what: string) => wrongArguments(`You don't have permissions to set this ${what} to this task.`);
    if (elsewhere(milestoneOf(world, { ...draft, milestone }))) throw refusal("sprint");
    if (elsewhere(story)) throw refusal("user story");
    if (elsewhere(known(world.taskStatuses, draft.status))) throw refusal("status");
    return { milestone };
  },
};

export const taskRoutes: readonly Route[] = [
  { method: "POST", path: "/tasks/bulk_create", handle: bulkCreate },
  ...workRoutes(tasks),
];

function bulkCreate(context: Context): Answer {
  const { world, user, body } = context;
  const fields = new Fields(body);
  const projectId = fields.required("project_id", whole);
  const milestoneId = fields.required("milestone_id", whole);
  const milestone = byId(world.milestones, milestoneId);
  const lines = fields.required("bulk_tasks", line(100_000));
  const storyId = fields.optional("us_id", orNull(whole)) ?? undefined;
  const status = fields.optional("status_id", whole);
  if (milestoneId !== undefined && milestone?.project !== projectId) {
    fields.refuse("milestone_id", "Invalid milestone id.");
  }
  const story = byId(world.stories, storyId);
  if (storyId !== undefined && (story?.project !== projectId || story?.milestone !== milestone?.id)) {
    fields.refuse("us_id", "Invalid user story id.");
  }
  if (status !== undefined && byId(world.taskStatuses, status)?.project !== projectId) {
    fields.refuse("status_id", "Invalid task status id.");
  }
  const project = bulkProject(context, fields, projectId);
  demand(context, project, ...tasks.add);
  if (!user) throw notAuthenticated();
  const shared = {
    milestone: milestone?.id ?? null,
    user_story: story?.id ?? null,
    ...(status !== undefined && { status }),
  };
  const made = linesOf(lines ?? "").map((subject) =>
    keepNew(tasks, world, { project, owner: user.id, fields: { subject, ...shared } }),
  );
  return ok(made.map((task) => wholeTask(world, task)));
}
