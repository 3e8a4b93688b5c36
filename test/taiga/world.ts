/** What the server keeps, in the words of the wire: its records are shown as they are, with a little added. */

export type User = {
  readonly id: number;
  readonly username: string;
  readonly password: string;
  readonly full_name: string;
  readonly email: string;
  readonly applicationToken: string;
  readonly isSuperuser: boolean;
};

export type Role = {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly project: number;
  /** Stories are estimated by roles, each with points of its own. */
  readonly computable: boolean;
  permissions: readonly string[];
};

export type Membership = {
  readonly user: number;
  readonly project: number;
  readonly role: number;
  readonly is_admin: boolean;
};

export type Project = {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly owner: number;
  readonly is_private: boolean;
  anon_permissions: readonly string[];
  public_permissions: readonly string[];
  blocked_code: string | null;
  readonly tagsColors: Record<string, string | null>;
  /** Stories and tasks of a project share one row of references. */
  lastRef: number;
};

export type Status = {
  readonly id: number;
  readonly project: number;
  readonly slug: string;
  readonly name: string;
  readonly order: number;
  readonly is_closed: boolean;
  readonly color: string;
};

export type Points = {
  readonly id: number;
  readonly project: number;
  readonly name: string;
  readonly order: number;
  readonly value: number | null;
};

export type Milestone = {
  readonly id: number;
  readonly project: number;
  readonly slug: string;
  readonly owner: number;
  readonly created_date: string;
  name: string;
  estimated_start: string;
  estimated_finish: string;
  closed: boolean;
  disponibility: number;
  order: number;
  modified_date: string;
};

/** What stories and tasks have in common, the version among it. */
export type Work = {
  readonly id: number;
  readonly ref: number;
  readonly project: number;
  readonly owner: number;
  readonly created_date: string;
  modified_date: string;
  version: number;
  milestone: number | null;
  status: number;
  assigned_to: number | null;
  subject: string;
  description: string;
  /** Names in lower case. */
  tags: readonly string[];
  external_reference: readonly string[] | null;
  is_blocked: boolean;
  blocked_note: string;
  due_date: string | null;
  /** The fields that each change touched, oldest first. */
  readonly history: (readonly string[])[];
  readonly comments: string[];
};

export type Story = Work & {
  /** By the role's id. */
  points: Readonly<Record<string, number>>;
  backlog_order: number;
  sprint_order: number;
  kanban_order: number;
  client_requirement: boolean;
  team_requirement: boolean;
};

export type Task = Work & {
  user_story: number | null;
  is_iocaine: boolean;
  us_order: number;
  taskboard_order: number;
};

export type World = {
  readonly users: User[];
  readonly roles: Role[];
  readonly memberships: Membership[];
  readonly projects: Project[];
  readonly storyStatuses: Status[];
  readonly taskStatuses: Status[];
  readonly points: Points[];
  readonly milestones: Milestone[];
  readonly stories: Story[];
  readonly tasks: Task[];
};

type Table = readonly { readonly id: number }[];

/** Ids are never used again: what was deleted stays unknown. */
const lastIds = new WeakMap<Table, number>();

export function nextId(table: Table): number {
  const last = Math.max(lastIds.get(table) ?? 0, ...table.map((row) => row.id));
  lastIds.set(table, last + 1);
  return last + 1;
}

export function byId<Row extends { readonly id: number }>(table: readonly Row[], id: unknown): Row | undefined {
  return table.find((row) => row.id === Number(id));
}

export function known<Row extends { readonly id: number }>(table: readonly Row[], id: number): Row {
  const row = byId(table, id);
  if (!row) throw new Error(`There is no row ${id}.`);
  return row;
}

/** The first of the project's rows is its default. */
export function defaultOf<Row extends { readonly project: number }>(table: readonly Row[], project: Project): Row {
  const row = table.find((each) => each.project === project.id);
  if (!row) throw new Error(`Project ${project.slug} has no default.`);
  return row;
}

export function nextRef(project: Project): number {
  project.lastRef++;
  return project.lastRef;
}

/** Unique over all projects: the second "Sprint 6" of the server is `sprint-6-1`. */
export function uniqueSlug(table: readonly { readonly slug: string }[], name: string): string {
  const base = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  for (let suffix = 0; ; suffix++) {
    const slug = suffix === 0 ? base : `${base}-${suffix}`;
    if (table.every((row) => row.slug !== slug)) return slug;
  }
}

export function remove<Row extends { readonly id: number }>(table: Row[], unwanted: (row: Row) => boolean): void {
  lastIds.set(table, Math.max(lastIds.get(table) ?? 0, ...table.map((row) => row.id)));
  table.splice(0, table.length, ...table.filter((row) => !unwanted(row)));
}
