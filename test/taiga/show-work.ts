import { createHash } from "node:crypto";
import {
  byId,
  known,
  type Milestone,
  type Project,
  type Story,
  type Task,
  type User,
  type Work,
  type World,
} from "./world.ts";

/** A story as it stands in a list: without its description. */
export function listedStory(world: World, story: Story, { withTasks = false } = {}) {
  const milestone = byId(world.milestones, story.milestone);
  return {
    ...commonOf(world, story),
    ...storyCore(world, story),
    milestone_slug: milestone?.slug ?? null,
    milestone_name: milestone?.name ?? null,
    tasks: withTasks ? tasksOf(world, story).map((task) => shortTask(world, task)) : [],
    assigned_users: story.assigned_to === null ? [] : [story.assigned_to],
    epic_order: null,
    finish_date: null,
    generated_from_issue: null,
    generated_from_task: null,
    origin_issue: null,
    origin_task: null,
    total_attachments: 0,
    tribe_gig: null,
    swimlane: null,
  };
}

export function wholeStory(world: World, story: Story) {
  return { ...listedStory(world, story), ...described(story) };
}

/** A story inside its milestone: no tags, no description; shown to all who may see the milestone. */
export function nestedStory(world: World, story: Story) {
  const { tags: _tags, ...rest } = commonOf(world, story);
  return { ...rest, ...storyCore(world, story) };
}

export function listedTask(world: World, task: Task) {
  const story = byId(world.stories, task.user_story);
  return {
    ...commonOf(world, task),
    milestone_slug: byId(world.milestones, task.milestone)?.slug ?? null,
    is_closed: isClosedTask(world, task),
    is_iocaine: task.is_iocaine,
    us_order: task.us_order,
    taskboard_order: task.taskboard_order,
    user_story: task.user_story,
    user_story_extra_info: story ? { id: story.id, ref: story.ref, subject: story.subject, epics: null } : null,
    finished_date: null,
  };
}

export function wholeTask(world: World, task: Task) {
  return { ...listedTask(world, task), ...described(task), generated_user_stories: null };
}

export function shownMilestone(world: World, milestone: Milestone) {
  const stories = world.stories.filter((story) => story.milestone === milestone.id);
  const closed = stories.filter((story) => isClosedStory(world, story));
  return {
    ...milestone,
    project_extra_info: shortProject(known(world.projects, milestone.project)),
    user_stories: stories.map((story) => nestedStory(world, story)),
    total_points: sum(stories.map((story) => totalPoints(world, story))),
    closed_points: sum(closed.map((story) => totalPoints(world, story))),
  };
}

export function shortProject({ id, name, slug }: Project) {
  return { id, name, slug, logo_small_url: null };
}

export function shortUser(user: User | undefined) {
  if (!user) return null;
  const { id, username, full_name, email } = user;
  const gravatar_id = createHash("md5").update(email).digest("hex");
  return { id, username, full_name_display: full_name, photo: null, big_photo: null, gravatar_id, is_active: true };
}

function commonOf(world: World, work: Work) {
  const { id, ref, version, project, milestone, status, subject, assigned_to, owner } = work;
  const { external_reference, is_blocked, blocked_note, due_date, created_date, modified_date } = work;
  const colors = known(world.projects, project).tagsColors;
  const shownStatus = [...("points" in work ? world.storyStatuses : world.taskStatuses)].find(
    (each) => each.id === status,
  );
  return {
    ...{ id, ref, version, project, milestone, status, subject, assigned_to, owner },
    ...{ external_reference, is_blocked, blocked_note, due_date, created_date, modified_date },
    comment: "",
    tags: work.tags.map((tag) => [tag, colors[tag] ?? null]),
    attachments: [],
    due_date_reason: "",
    due_date_status: "not_set",
    project_extra_info: shortProject(known(world.projects, project)),
    owner_extra_info: shortUser(byId(world.users, owner)),
    assigned_to_extra_info: shortUser(byId(world.users, assigned_to)),
    status_extra_info: shownStatus
      ? { name: shownStatus.name, color: shownStatus.color, is_closed: shownStatus.is_closed }
      : null,
    is_voter: false,
    is_watcher: false,
    total_comments: work.comments.length,
    total_voters: 0,
    total_watchers: 0,
    watchers: [],
  };
}

function storyCore(world: World, story: Story) {
  const { points, backlog_order, sprint_order, kanban_order, client_requirement, team_requirement } = story;
  return {
    ...{ points, backlog_order, sprint_order, kanban_order, client_requirement, team_requirement },
    is_closed: isClosedStory(world, story),
    total_points: totalPoints(world, story),
    epics: null,
  };
}

function described(work: Work) {
  const paragraphs = work.description === "" ? "" : `<p>${escaped(work.description)}</p>`;
  return {
    description: work.description,
    description_html: paragraphs,
    blocked_note_html: escaped(work.blocked_note),
    neighbors: { previous: null, next: null },
  };
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function shortTask(world: World, task: Task) {
  const { id, ref, subject, status, is_blocked, is_iocaine } = task;
  return { id, ref, subject, status_id: status, is_blocked, is_iocaine, is_closed: isClosedTask(world, task) };
}

function tasksOf(world: World, story: Story): readonly Task[] {
  return world.tasks.filter((task) => task.user_story === story.id);
}

function isClosedTask(world: World, task: Task): boolean {
  return byId(world.taskStatuses, task.status)?.is_closed ?? false;
}

/** By its tasks if it has some, else by its own status. */
export function isClosedStory(world: World, story: Story): boolean {
  const tasks = tasksOf(world, story);
  if (tasks.length > 0) return tasks.every((task) => isClosedTask(world, task));
  return byId(world.storyStatuses, story.status)?.is_closed ?? false;
}

function totalPoints(world: World, story: Story): number | null {
  return sum(Object.values(story.points).map((id) => byId(world.points, id)?.value ?? null));
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
