import { badRequest, exception } from "./errors.ts";
import type { Status, Work } from "./world.ts";

type Test<Row> = (row: Row) => boolean;

/** The filters that lists of stories and of tasks share. */
export function workFilters(query: URLSearchParams, statuses: readonly Status[]): readonly Test<Work>[] {
  const isClosed = (row: Work) => statuses.find((status) => status.id === row.status)?.is_closed === true;
  return [
    ...exactly(query, "milestone", (row: Work) => row.milestone),
    ...flag(query, "milestone__isnull", (row: Work) => row.milestone === null),
    ...flag(query, "status__is_closed", isClosed),
    ...anyOf(query, "status", (row: Work) => row.status),
    ...anyOf(query, "assigned_to", (row: Work) => row.assigned_to),
    ...anyOf(query, "owner", (row: Work) => row.owner),
    ...byTags(query),
    ...byWords(query),
  ];
}

/** One value, or `null`. */
export function exactly<Row>(
  query: URLSearchParams,
  name: string,
  valueOf: (row: Row) => number | null,
): readonly Test<Row>[] {
  const text = query.get(name);
  if (text === null) return [];
  const wanted = text === "null" ? null : Number(text);
  if (Number.isNaN(wanted) || text === "") throw badRequest("Error in filter params types.");
  return [(row) => valueOf(row) === wanted];
}

/** `true` or `false`. */
export function flag<Row>(query: URLSearchParams, name: string, valueOf: (row: Row) => boolean): readonly Test<Row>[] {
  const text = query.get(name);
  if (text === null) return [];
  if (text !== "true" && text !== "false") throw badRequest("Error in filter params types.");
  return [(row) => valueOf(row) === (text === "true")];
}

/** One or more values with commas, `null` among them; `exclude_<name>` turns it round. */
function anyOf(query: URLSearchParams, name: string, valueOf: (row: Work) => number | null): readonly Test<Work>[] {
  const valuesOf = (text: string) => text.split(",").map((value) => numberOrNull(value.trim()));
  const [wanted, unwanted] = [query.get(name), query.get(`exclude_${name}`)];
  return [
    ...(wanted ? [(row: Work) => valuesOf(wanted).includes(valueOf(row))] : []),
    ...(unwanted ? [(row: Work) => !valuesOf(unwanted).includes(valueOf(row))] : []),
  ];
}

function numberOrNull(text: string): number | null {
  if (text === "null") return null;
  if (!/^-?\d+$/.test(text)) throw exception(400, "BadRequest", "Wrong arguments.");
  return Number(text);
}

/** One of the tags, letter for letter: stored tags are in lower case, so others never match. */
function byTags(query: URLSearchParams): readonly Test<Work>[] {
  const [wanted, unwanted] = [query.get("tags"), query.get("exclude_tags")];
  const hasOne = (row: Work, text: string) => text.split(",").some((tag) => row.tags.includes(tag));
  return [
    ...(wanted ? [(row: Work) => hasOne(row, wanted)] : []),
    ...(unwanted ? [(row: Work) => !hasOne(row, unwanted)] : []),
  ];
}

/** Every word must begin a word of the subject, the description, the tags, or be the reference. */
function byWords(query: URLSearchParams): readonly Test<Work>[] {
  const words = query.get("q")?.toLowerCase().match(/\w+/g);
  if (!words) return [];
  return [
    (row) => {
      const text = [row.subject, row.description, ...row.tags, String(row.ref)].join(" ").toLowerCase();
      const known = text.match(/\w+/g) ?? [];
      return words.every((word) => known.some((each) => each.startsWith(word)));
    },
  ];
}

export function keep<Row>(rows: readonly Row[], tests: readonly Test<Row>[]): readonly Row[] {
  return rows.filter((row) => tests.every((test) => test(row)));
}

/** `order_by=-field` for the fields named here; others are ignored. */
export function ordered<Row extends { readonly id: number }>(
  query: URLSearchParams,
  rows: readonly Row[],
  fields: readonly (keyof Row & string)[],
): readonly Row[] {
  const wanted = query.get("order_by") ?? "";
  const field = fields.find((each) => each === wanted.replace(/^-/, ""));
  if (!field) return rows;
  const direction = wanted.startsWith("-") ? -1 : 1;
  return rows.toSorted((one, other) => direction * compare(one[field], other[field]) || other.id - one.id);
}

function compare(one: unknown, other: unknown): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other));
}
