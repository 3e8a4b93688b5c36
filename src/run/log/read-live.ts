import type { Query } from "../../protocol/agents/tools.ts";
import type { DeltaKind } from "./deltas.ts";
import type { LiveMessage } from "./follower.ts";

/** A row of `deltas`: where its text begins, and the text. */
export type StoredPiece = readonly [offset: number, text: string];

/** The rows of one kind of an attempt; of `retry` there is one. */
export type BegunText = {
  readonly thread_id: string;
  readonly run_id: string;
  readonly step: string;
  readonly attempt: number;
  readonly kind: DeltaKind | "retry";
  readonly pieces: readonly StoredPiece[];
};

/** Reads the text of attempts in these threads that are not among the `known` ones, or newer; an attempt's `retry` comes first. */
export function readBegun(
  query: Query,
  threads: readonly string[],
  known: readonly LiveMessage[],
): Promise<readonly BegunText[]> {
  return query<BegunText>(
    `select thread_id, run_id, step, attempt, kind, json_agg(json_build_array(off, body) order by off) as pieces from deltas d where thread_id = any ($1::uuid[])
       and not exists (select from items i where i.run_id = d.run_id and i.step = d.step and i.kind = 'message' and i.attempt >= d.attempt)
       and not exists (select from json_to_recordset($2::json) as k (run uuid, step text, attempt integer) where k.run = d.run_id and k.step = d.step and k.attempt >= d.attempt)
     group by thread_id, run_id, step, attempt, kind order by attempt, kind = 'retry' desc`,
    [threads, JSON.stringify(known.map(({ run, step, attempt }) => ({ run, step, attempt })))],
  );
}

export type MoreText = {
  readonly live: LiveMessage;
  readonly kind: DeltaKind;
  readonly pieces: readonly StoredPiece[];
};

/** Reads what was written behind what is known of these messages. In one column and without their ids: it is read ten times a second. */
export async function readMore(query: Query, known: readonly LiveMessage[]): Promise<readonly MoreText[]> {
  if (known.length === 0) return [];
  const places = known.map((live, n) => {
    const { run, step, attempt, gaps } = live;
    return {
      n,
      run,
      step,
      attempt,
      text: gaps.text ? 0 : live.text.length,
      reasoning: gaps.reasoning ? 0 : live.reasoning.length,
    };
  });
  const [row] = await query<{ t: readonly (readonly [n: number, kind: "t" | "r", ...StoredPiece])[] | null }>(
    `select json_agg(json_build_array(n, left(d.kind, 1), off, body) order by n, off) as t
     from json_to_recordset($1::json) as k (n integer, run uuid, step text, attempt integer, text integer, reasoning integer)
     cross join lateral (values ('text', k.text), ('reasoning', k.reasoning)) as p (kind, read)
     join deltas d on d.run_id = k.run and d.step = k.step and d.attempt = k.attempt and d.kind = p.kind and d.off >= p.read`,
    [JSON.stringify(places)],
  );
  const byText = Map.groupBy(row?.t ?? [], ([n, kind]) => `${n} ${kind}`);
  return [...byText.values()].map((rows) => {
    const [n, kind] = rows[0]!;
    return {
      live: known[n]!,
      kind: kind === "t" ? "text" : "reasoning",
      pieces: rows.map(([, , offset, text]) => [offset, text] as const),
    };
  });
}

/**
 * What the pieces add to a text of this length, up to the first gap. One may come from a crash of the database, which empties
 * the table, or from a piece that was written once more and longer: what is stored is read from its beginning then.
 */
export function joinPieces(
  length: number,
  pieces: readonly StoredPiece[],
): { readonly text: string; readonly hasGap: boolean } {
  let text = "";
  for (const [offset, piece] of pieces) {
    const known = length + text.length - offset;
    if (known < 0) return { text, hasGap: true };
    text += piece.slice(known);
  }
  return { text, hasGap: false };
}
