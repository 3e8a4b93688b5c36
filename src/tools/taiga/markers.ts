import type { ProjectSession } from "./access.ts";
import { parsed, type WireWork, workSchema } from "./shapes.ts";

/** Where a story or task that a run makes carries the key of the call that made it. */
export const markerKinds = ["external_reference", "tag"] as const;
export type MarkerKind = (typeof markerKinds)[number];
export type WorkPath = "/userstories" | "/tasks";

const issuer = "colloquy";

/** What a POST sends along. */
export function markerFields(
  kind: MarkerKind,
  key: string,
  tags: readonly string[] = [],
): { readonly external_reference?: readonly string[]; readonly tags?: readonly string[] } {
  if (kind === "external_reference") return { external_reference: [issuer, key], ...(tags.length > 0 ? { tags } : {}) };
  return { tags: [...tags, tagOf(key)] };
}

/** The story or task with the marker; `none`: surely there is none. Undefined: there are too many to look through. */
export async function findMarked(
  desk: ProjectSession,
  { path, kind, key, signal }: { path: WorkPath; kind: MarkerKind; key: string; signal: AbortSignal },
): Promise<WireWork | "none" | undefined> {
  // Lists leave out what one may not see, so an empty one would prove nothing.
  if (!desk.project.permissions.includes(path === "/tasks" ? "view_tasks" : "view_us")) return undefined;
  let found: WireWork | undefined;
  const byTag = kind === "tag" ? { tags: tagOf(key) } : {};
  const query = { project: desk.project.id, order_by: "-created_date", ...byTag };
  const isWhole = await desk.pages({ path, query, signal }, (rows) => {
    found = rows.map((row) => parsed(workSchema, row, "list of work")).find((work) => isMarked(work, kind, key));
    return found === undefined;
  });
  return found ?? (isWhole ? "none" : undefined);
}

function isMarked({ external_reference: reference, tags }: WireWork, kind: MarkerKind, key: string): boolean {
  if (kind === "tag") return (tags ?? []).some(([tag]) => tag === tagOf(key));
  return reference?.[0] === issuer && reference[1] === key;
}

/** Set by us, and no business of whoever reads or changes tags. */
export function isMarkerTag(tag: string): boolean {
  return tag.startsWith(`${issuer}:`);
}

function tagOf(key: string): string {
  return `${issuer}:${key}`;
}
