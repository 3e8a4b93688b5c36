import type { IncomingHttpHeaders } from "node:http";
import { notAuthenticated, notFound, permissionDenied } from "./errors.ts";
import { isAdmin, permissionsOf } from "./permissions.ts";
import type { Tokens } from "./tokens.ts";
import type { Project, User, World } from "./world.ts";

export type Body = Readonly<Record<string, unknown>>;

/** One request, as the routes see it. */
export type Context = {
  readonly world: World;
  readonly tokens: Tokens;
  readonly user: User | undefined;
  readonly method: string;
  readonly url: URL;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** What the path has in the place of `:id`. */
  readonly id: string;
};

export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Route = {
  readonly method: string;
  /** Below `/api/v1`; `:id` stands for one part. */
  readonly path: string;
  readonly handle: (context: Context) => Answer;
};

export function ok(body: unknown, headers?: Answer["headers"]): Answer {
  return { status: 200, body, ...(headers && { headers }) };
}

/** Admins of the project may do everything in it. */
export function may(context: Context, project: Project, ...oneOf: readonly string[]): boolean {
  if (isAdmin(context.world, context.user, project)) return true;
  const permissions = permissionsOf(context.world, context.user, project);
  return oneOf.some((permission) => permissions.has(permission));
}

export function demand(context: Context, project: Project, ...oneOf: readonly string[]): void {
  if (!may(context, project, ...oneOf)) throw refusal(context);
}

/**
 * Who asks to change what he cannot see, or what is not there, is refused and not told which of the two it is.
 * Only a superuser gets the plain 404.
 */
export function hidden(context: Context): Error {
  return context.user?.isSuperuser ? notFound() : refusal(context);
}

/** 401 for nobody, 403 for somebody. */
function refusal(context: Context): Error {
  return context.user ? permissionDenied() : notAuthenticated();
}
