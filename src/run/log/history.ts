import type { Item } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isErased, isNested } from "./fold.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";
import { withoutWithdrawn } from "./standing.ts";
import { tokensOf } from "./estimate-tokens.ts";

const firstPage = 128;
const largestPage = 2048;
const maxContexts = 4;

export type HistoryOptions = {
  readonly threadId: string;
  readonly runId: string;
  readonly leaf: string | null;
  /** The model's room. A past without a summary is read several times as far, so that one can be made of it. */
  readonly tokens: number;
};

/**
 * The branch that ends in `leaf`, oldest first: all of the run's own items, and of what came before what no summary stands
 * for, or a few times as much as `tokens` hold, from a person's message on. Read backwards in growing pages, so that the
 * length of a thread costs nothing.
 */
export async function readHistory(query: Query, options: HistoryOptions): Promise<readonly Item[]> {
  return withoutWithdrawn(await readBackwards(query, options));
}

async function readBackwards(query: Query, { threadId, runId, leaf, tokens }: HistoryOptions): Promise<Item[]> {
  const known = new Map<string, Item>();
  const branch: Item[] = [];
  let next = leaf;
  let before = Number.MAX_SAFE_INTEGER;
  let seen = 0;
  let begun = false;
  let summarised = 0;
  let enough: number | undefined;
  for (let page = firstPage; next !== null; page = Math.min(page * 4, largestPage)) {
    const rows = await query<ItemRow>(
      `select ${itemColumns} from items where thread_id = $1 and seq < $2 order by seq desc limit $3`,
      [threadId, before, page],
    );
    for (const row of rows) known.set(row.id, toItem(row));
    for (let item = known.get(next); item; item = next === null ? undefined : known.get(next)) {
      branch.push(item);
      known.delete(item.id);
      if (item.runId !== runId && !isNested(item)) seen += tokensOf(item);
      begun ||= item.runId === runId && isInput(item);
      if (item.kind === "summary" && !isErased(item)) summarised = Math.max(summarised, item.body.upToSeq);
      next = item.parentId;
      // Items of others may stand among the run's own, so only its first says that all were seen.
      if (begun && seen > maxContexts * tokens) enough ??= branch.length;
    }
    // The rest belongs to other branches, which may be long.
    known.clear();
    if (rows.length < page) break;
    before = rows.at(-1)!.seq;
    if (enough !== undefined || (begun && before <= summarised)) break;
  }
  const isWhole = next === null && enough === undefined;
  branch.splice(enough ?? branch.length);
  branch.reverse();
  if (branch[0] && branch[0].seq <= summarised) return branch.filter((item) => item.seq > summarised);
  if (isWhole) return branch;
  return branch.slice(
    Math.max(
      0,
      branch.findIndex((item) => isInput(item) || item.runId === runId),
    ),
  );
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
