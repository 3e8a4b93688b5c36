import { ok, type Answer, type Context, type Route } from "./context.ts";
import { badRequest, noMatch, notAuthenticated, signInError } from "./errors.ts";
import { Fields, text } from "./fields.ts";
import { isVisible, paginated } from "./lists.ts";
import { shortUser } from "./show-work.ts";
import { byId, type User, type World } from "./world.ts";

export const authRoutes: readonly Route[] = [
  { method: "POST", path: "/auth", handle: signIn },
  { method: "POST", path: "/auth/refresh", handle: refresh },
  { method: "GET", path: "/users/me", handle: me },
  { method: "GET", path: "/users", handle: listUsers },
  { method: "GET", path: "/users/:id", handle: oneUser },
];

function signIn({ world, tokens, body }: Context): Answer {
  if (text(body["type"]).toLowerCase() !== "normal") throw badRequest("invalid login type");
  const fields = new Fields(body);
  const username = fields.required("username", text);
  const password = fields.required("password", text);
  fields.done();
  const user = world.users.find((each) => each.username === username || each.email === username);
  if (!user || user.password !== password) {
    throw signInError("No active account found with the given credentials", "invalid_credentials");
  }
  return ok({ ...wholeUser(world, user), ...tokens.pairFor(user) });
}

function refresh({ tokens, body }: Context): Answer {
  const fields = new Fields(body);
  const token = fields.required("refresh", text);
  fields.done();
  return ok(tokens.refresh(token ?? ""));
}

function me({ world, user }: Context): Answer {
  if (!user) throw notAuthenticated();
  return ok(wholeUser(world, user));
}

/** Who is in a project with the caller, and the caller. */
function listUsers(context: Context): Answer {
  const { world, user, query } = context;
  const wanted = query.get("project");
  const projects = world.projects.filter(
    (project) => (wanted === null || project.id === Number(wanted)) && isVisible(context, project, "view_project"),
  );
  const ids = new Set(
    world.memberships.filter((each) => projects.some(({ id }) => id === each.project)).map((each) => each.user),
  );
  const shown = world.users.filter((each) => ids.has(each.id) || (wanted === null && each.id === user?.id));
  return paginated(context, shown, (each) => publicUser(world, each));
}

function oneUser({ world, id }: Context): Answer {
  const user = byId(world.users, id);
  if (!user) throw noMatch("User");
  return ok(publicUser(world, user));
}

function publicUser(world: World, user: User) {
  const roles = world.memberships
    .filter((membership) => membership.user === user.id)
    .map((membership) => byId(world.roles, membership.role)?.name ?? "");
  return {
    ...shortUser(user),
    full_name: user.full_name,
    roles: [...new Set(roles)].sort(),
    ...{ color: "#40826d", bio: "", lang: "", theme: "", timezone: "" },
  };
}

function wholeUser(world: World, user: User) {
  const owned = world.projects.filter((project) => project.owner === user.id);
  return {
    ...publicUser(world, user),
    email: user.email,
    uuid: user.id.toString(16).padStart(32, "0"),
    date_joined: "2026-01-05T09:00:00.000Z",
    ...{ accepted_terms: true, read_new_terms: true, verified_email: true },
    total_private_projects: owned.filter((project) => project.is_private).length,
    total_public_projects: owned.filter((project) => !project.is_private).length,
    ...{ max_private_projects: null, max_public_projects: null },
    ...{ max_memberships_private_projects: null, max_memberships_public_projects: null },
  };
}
