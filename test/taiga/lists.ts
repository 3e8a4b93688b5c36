import type { Answer, Context } from "./context.ts";
import { badRequest, notFound } from "./errors.ts";
import { isAdmin, membershipOf } from "./permissions.ts";
import { byId, type Project, type World } from "./world.ts";

const defaultPageSize = 30;
const maxPageSize = 1000;

type OfProject = { readonly project: number };

/** The rows of the projects whose rows of this kind the user may see. Lists never refuse: they leave out. */
export function visibleRows<Row extends OfProject>(
  context: Context,
  rows: readonly Row[],
  permission: string,
): readonly Row[] {
  const { query, world } = context;
  const wanted = query.get("project");
  if (wanted !== null && !/^\d+$/.test(wanted)) throw badRequest("'project' must be an integer value.");
  const slug = query.get("project__slug");
  return rows.filter((row) => {
    const project = byId(world.projects, row.project);
    if (!project || (wanted !== null && project.id !== Number(wanted))) return false;
    return (slug === null || project.slug === slug) && isVisible(context, project, permission);
  });
}

/** Not quite `my_permissions`: what anonymous people may see does not count for somebody who signed in. */
export function isVisible({ world, user }: Context, project: Project, permission: string): boolean {
  if (!user) return project.anon_permissions.includes(permission);
  if (isAdmin(world, user, project) || project.public_permissions.includes(permission)) return true;
  return rolePermissions(world, membershipOf(world, user, project)?.role).includes(permission);
}

function rolePermissions(world: World, role: number | undefined): readonly string[] {
  return byId(world.roles, role)?.permissions ?? [];
}

/** One page with its headers, or everything when the header `x-disable-pagination` is there, whatever its value. */
export function paginated<Row>(context: Context, rows: readonly Row[], show: (row: Row) => unknown): Answer {
  const { headers, query } = context;
  if (headers["x-disable-pagination"] !== undefined) return { status: 200, body: rows.map(show) };
  const size = pageSize(query.get("page_size"));
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = pageNumber(query.get("page"), pages);
  return {
    status: 200,
    body: rows.slice((page - 1) * size, page * size).map(show),
    headers: {
      "x-paginated": "true",
      "x-paginated-by": String(size),
      "x-pagination-current": String(page),
      ...(headers["x-lazy-pagination"] === undefined && { "x-pagination-count": String(rows.length) }),
      ...(page < pages && { "X-Pagination-Next": urlOfPage(context, page + 1) }),
      ...(page > 1 && { "X-Pagination-Prev": urlOfPage(context, page - 1) }),
    },
  };
}

function pageSize(wanted: string | null): number {
  const size = Number(wanted);
  return Number.isInteger(size) && size > 0 ? Math.min(size, maxPageSize) : defaultPageSize;
}

function pageNumber(wanted: string | null, pages: number): number {
  if (wanted === null || wanted === "") return 1;
  if (wanted === "last") return pages;
  const page = Number(wanted);
  if (!Number.isInteger(page)) throw notFound("Page is not 'last', nor can it be converted to an int.");
  if (page < 1) throw notFound(`Invalid page (${page}): That page number is less than 1`);
  if (page > pages) throw notFound(`Invalid page (${page}): That page contains no results`);
  return page;
}

function urlOfPage({ url }: Context, page: number): string {
  const next = new URL(url);
  next.searchParams.set("page", String(page));
  return next.href;
}
