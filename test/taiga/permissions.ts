import type { Project, User, World } from "./world.ts";

export const viewPermissions = [
  "view_project",
  "view_milestones",
  "view_epics",
  "view_us",
  "view_tasks",
  "view_issues",
  "view_wiki_pages",
  "view_wiki_links",
];

export const memberPermissions = [
  ...viewPermissions,
  ...["add", "modify", "delete"].map((verb) => `${verb}_milestone`),
  ...["epic", "us", "task", "issue", "wiki_page"].flatMap((what) =>
    ["add", "modify", "comment", "delete"].map((verb) => `${verb}_${what}`),
  ),
  ...["add", "modify", "delete"].map((verb) => `${verb}_wiki_link`),
];

export const adminPermissions = [
  "modify_project",
  "delete_project",
  "add_member",
  "remove_member",
  "admin_project_values",
  "admin_roles",
];

/** `my_permissions`: what the server computes from role, membership and the project's openness. */
export function permissionsOf(world: World, user: User | undefined, project: Project): ReadonlySet<string> {
  if (!user) return new Set(project.anon_permissions);
  if (user.isSuperuser) return new Set([...adminPermissions, ...memberPermissions]);
  const open = [...project.public_permissions, ...project.anon_permissions];
  const membership = membershipOf(world, user, project);
  if (!membership) return new Set(open);
  const own = world.roles.find((role) => role.id === membership.role)?.permissions ?? [];
  const admin = membership.is_admin ? [...adminPermissions, ...memberPermissions] : [];
  return new Set([...admin, ...own, ...open]);
}

/** A superuser counts as the admin of every project. */
export function isAdmin(world: World, user: User | undefined, project: Project): boolean {
  if (!user) return false;
  return user.isSuperuser || membershipOf(world, user, project)?.is_admin === true;
}

export function membershipOf(world: World, user: User | undefined, project: Project) {
  return world.memberships.find((each) => each.user === user?.id && each.project === project.id);
}
