import type { Item } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isErased, isNested } from "./fold.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";
import { withoutWithdrawn } from "./standing.ts";
import { tokensOf } from "./estimate-tokens.ts";

const firstPage = 128;
const leastPage = 16;
const largestPage = 2048;
const maxContexts = 4;

/** As in `summarise.ts`: what tells of a failed summary, and how many leave a thread alone. */
const failureCode = "not_summarised";
const maxFailures = 3;

/** What a prompt clips results, arguments and long messages to, at most: see `fit-blocks.ts`. */
const leastOfCall = 100;
const longMessage = 1 / 3;
const longClippedTo = 1 / 8;

export type HistoryOptions = {
  readonly threadId: string;
  readonly runId: string;
  readonly leaf: string | null;
  /** The model's room. A past without a summary is read several times as far, so that one can be made of it. */
  readonly tokens: number;
};

/**
 * The branch that ends in `leaf`, oldest first: all of the run's own items, and of what came before what no summary stands
 * for, or as much as `tokens` hold if none will be made, else a few times as much, from a person's message on. Read backwards
 * in pages of what is missing, so that the length of a thread costs nothing.
 */
export async function readHistory(query: Query, options: HistoryOptions): Promise<readonly Item[]> {
  return withoutWithdrawn(await readBackwards(query, options));
}

async function readBackwards(query: Query, options: HistoryOptions): Promise<Item[]> {
  const { threadId, runId, leaf, tokens } = options;
  const known = new Map<string, Item>();
  const branch: Item[] = [];
  let next = leaf;
  let before = Number.MAX_SAFE_INTEGER;
  /** Tokens of what came before, and as many of them as are left when a prompt has clipped what it can. */
  let seen = 0;
  let told = 0;
  let begun = false;
  let summarised = 0;
  let fills: number | undefined;
  let enough: number | undefined;
  let failures: readonly Item[] | undefined;
  for (
    let page = firstPage;
    next !== null;
    page = pageAfter(page, begun, {
      part: (told > tokens ? seen / maxContexts : told) / Math.max(1, tokens),
      items: branch.length,
    })
  ) {
    const rows = await query<ItemRow>(
      `select ${itemColumns} from items where thread_id = $1 and seq < $2 order by seq desc limit $3`,
      [threadId, before, page],
    );
    for (const row of rows) known.set(row.id, toItem(row));
    for (let item = known.get(next); item; item = next === null ? undefined : known.get(next)) {
      branch.push(item);
      known.delete(item.id);
      if (item.runId !== runId && !isNested(item)) {
        seen += tokensOf(item);
        told += toldOf(item, tokens);
      }
      begun ||= item.runId === runId && isInput(item);
      if (item.kind === "summary" && !isErased(item)) summarised = Math.max(summarised, item.body.upToSeq);
      next = item.parentId;
      // Items of others may stand among the run's own, so only its first says that all were seen.
      if (begun && told > tokens) fills ??= branch.length;
      if (begun && seen > maxContexts * tokens) enough ??= branch.length;
    }
    // The rest belongs to other branches, which may be long.
    known.clear();
    before = rows.at(-1)?.seq ?? 0;
    if (fills !== undefined && summarised === 0)
      failures ??=
        enough === undefined && rows.length === page
          ? await failuresBefore(query, options, branch.slice(0, fills))
          : failuresIn(branch.slice(0, enough));
    if (fills !== undefined && failures && failures.length >= maxFailures) {
      enough = fills;
      break;
    }
    if (rows.length < page || enough !== undefined || (begun && before <= summarised)) break;
  }
  const isWhole = next === null && enough === undefined;
  branch.splice(enough ?? branch.length);
  branch.reverse();
  if (branch[0] && branch[0].seq <= summarised) return branch.filter((item) => item.seq > summarised);
  if (isWhole) return branch;
  const from = branch.slice(
    Math.max(
      0,
      branch.findIndex((item) => isInput(item) || item.runId === runId),
    ),
  );
  // Whoever would summarise the past finds them here.
  return [...(failures ?? []).filter(({ seq }) => seq < from[0]!.seq), ...from];
}

/**
 * How many rows to read next, of which `items` were `part` of what is wanted. What is said in a conversation may grow shorter
 * all of a sudden, so it is at most three times as many as were read; while the run's own first item is not found, four times the
 * last page.
 */
function pageAfter(page: number, begun: boolean, { part, items }: { part: number; items: number }): number {
  const wanted = begun ? Math.min((1 / part - 1) * items * 1.1, items * 3) : page * 4;
  return Math.min(Math.max(Math.ceil(wanted), leastPage), largestPage);
}

/**
 * Failed tries to summarise a past that is longer than a prompt, in these newest items and in as many more as would be read for
 * a summary; none if there is a summary among them, which stands for what is before.
 */
async function failuresBefore(
  query: Query,
  { threadId }: HistoryOptions,
  newest: readonly Item[],
): Promise<readonly Item[]> {
  const known = failuresIn(newest);
  if (known.length >= maxFailures) return known;
  const rows = await query<ItemRow>(
    `select * from (select ${itemColumns} from items where thread_id = $1 and seq < $2 order by seq desc limit $3) i
     where kind = 'summary' or (kind = 'notice' and body ->> 'code' = $4) order by seq`,
    [threadId, newest.at(-1)!.seq, newest.length * (maxContexts - 1), failureCode],
  );
  return rows.some(({ kind }) => kind === "summary") ? [] : [...rows.map(toItem), ...known];
}

/** Oldest first, of items that are read backwards. */
function failuresIn(items: readonly Item[]): readonly Item[] {
  return items.filter((item) => item.kind === "notice" && item.body.code === failureCode).toReversed();
}

/** Tokens of an item that is clipped as far as a prompt clips what came before. */
function toldOf(item: Item, room: number): number {
  const tokens = tokensOf(item);
  if (item.kind === "call" || item.kind === "result") return Math.min(tokens, leastOfCall);
  return tokens > room * longMessage ? room * longClippedTo : tokens;
}

/** The branch that ends in `leaf`, of items in order of their seq. */
export function branchOf(items: readonly Item[], leaf: string | null): readonly Item[] {
  const branch: Item[] = [];
  let next = leaf;
  for (const item of items.toReversed()) {
    if (item.id !== next) continue;
    branch.push(item);
    next = item.parentId;
  }
  return withoutWithdrawn(branch.reverse());
}

/** Whether a person wrote the item, even if it was erased. */
function isInput(item: Item): boolean {
  return item.kind === "message" && item.step === null && (isErased(item) || item.body.role === "user");
}
