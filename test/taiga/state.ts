import type { Username } from "./sample-data.ts";
import type { SeenRequest } from "./seen-request.ts";
import { change } from "./versions.ts";
import type { Milestone, Project, Story, Task, User, Work, World } from "./world.ts";

/** What a test looks at, and what it changes as another person would. */
export class TaigaState {
  #world: World;
  #sample: ReadonlySet<Work>;
  /** All that came, oldest first. */
  readonly requests: SeenRequest[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#sample = new Set([...world.stories, ...world.tasks]);
  }

  /** Everything as it stands now. */
  get world(): World {
    return this.#world;
  }

  /** Requests that changed something, whatever the client heard of it. */
  get writes(): readonly SeenRequest[] {
    return this.requests.filter((request) => request.effect);
  }

  /** What is there beyond the sample. */
  get created(): { readonly stories: readonly Story[]; readonly tasks: readonly Task[] } {
    const isNew = (work: Work) => !this.#sample.has(work);
    return { stories: this.#world.stories.filter(isNew), tasks: this.#world.tasks.filter(isNew) };
  }

  /** How many of the created stories and tasks bear each subject. */
  counts(): Readonly<Record<string, number>> {
    const { stories, tasks } = this.created;
    const counts: Record<string, number> = {};
    for (const { subject } of [...stories, ...tasks]) counts[subject] = (counts[subject] ?? 0) + 1;
    return counts;
  }

  /** Stories and tasks that bear the marker as an external reference or, in lower case, as a tag. */
  marked(marker: string): readonly (Story | Task)[] {
    const { stories, tasks } = this.#world;
    return [...stories, ...tasks].filter(
      (work) => work.external_reference?.includes(marker) || work.tags.includes(marker.toLowerCase()),
    );
  }

  story(key: number | string): Story {
    return found(this.#world.stories, (story) => story.id === key || story.subject === key, key);
  }

  task(key: number | string): Task {
    return found(this.#world.tasks, (task) => task.id === key || task.subject === key, key);
  }

  project(slug: string): Project {
    return found(this.#world.projects, (project) => project.slug === slug, slug);
  }

  milestone(slug: string): Milestone {
    return found(this.#world.milestones, (milestone) => milestone.slug === slug, slug);
  }

  user(username: Username): User {
    return found(this.#world.users, (user) => user.username === username, username);
  }

  /** As if somebody else had saved it: the version counts up. */
  edit<Row extends Story | Task>(row: Row, fields: Partial<Row>): void {
    change<Row>(row, fields);
  }

  /** From now on; what a client keeps of `my_permissions` is then out of date. */
  setPermissions(project: string, role: string, permissions: readonly string[]): void {
    const { id } = this.project(project);
    found(this.#world.roles, (each) => each.project === id && each.slug === role, role).permissions = permissions;
  }

  reset(world: World): void {
    this.#world = world;
    this.#sample = new Set([...world.stories, ...world.tasks]);
    this.requests.length = 0;
  }
}

function found<Row>(rows: readonly Row[], wanted: (row: Row) => boolean, key: number | string): Row {
  const row = rows.find(wanted);
  if (!row) throw new Error(`There is no ${key}.`);
  return row;
}
