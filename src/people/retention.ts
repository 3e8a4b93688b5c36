import { setTimeout as delay } from "node:timers/promises";
import type { RetentionKind, RoundResult } from "../protocol/people/retention.ts";
import type { Finding } from "../protocol/people/overview.ts";
import type { Uploads } from "../knowledge/uploads/uploads.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { RunRetention } from "../run/services.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import type { Database } from "../store/driver/database.ts";
import {
  type ConfiguredDays,
  countDue,
  endRound,
  idleThreads,
  keepRound,
  listDue,
  readRules,
  removeDueRows,
  type RetentionRule,
  setRule,
  takeRound,
} from "../store/privacy/retention.ts";

/** So that nothing holds up others for long. */
const together: Readonly<Record<RetentionKind, number>> = {
  threads: 200,
  archivedThreads: 200,
  runs: 100,
  uploads: 100,
  workspaces: 50,
  shares: 1000,
  callLog: 5000,
  audit: 5000,
};
/** Of each kind in a round; what is left over is the next one's, which follows at once if none was asked for. */
const usualBatches = 40;
/** Between rounds that follow at once, others have the database as long as the last one took, but no longer than this. */
const longestRestMs = 60_000;
const lookEveryMs = 5 * 60_000;

/** How long things are kept; whoever changes it has made sure that the caller may. */
export type Retention = {
  rules(): Promise<readonly RetentionRule[]>;
  /** null: for ever; undefined: as by default. Throws Conflict `set_elsewhere`. */
  set(kind: RetentionKind, days: number | null | undefined): Promise<void>;
  /** How many would go now, by the rules that are set or by this one. */
  preview(
    kind?: RetentionKind,
    days?: number,
  ): Promise<readonly { readonly kind: RetentionKind; readonly days: number; readonly count: number }[]>;
  /** Undefined: a node is at it. */
  removeNow(): Promise<readonly RoundResult[] | undefined>;
};

export type RetentionDeps = {
  readonly database: Pick<Database, "query" | "transaction">;
  readonly old: RunRetention;
  readonly uploads: Pick<Uploads, "removeById">;
  readonly workspaces: Pick<Workspaces, "remove" | "threads">;
  readonly configured: ConfiguredDays;
  readonly log: Log;
  /** Whether this process may work with files. */
  readonly withFiles: boolean;
  readonly maxBatches?: number;
};

/** What removes due things of one kind, in batches, until the signal. */
function createRemoval(parts: RetentionDeps, signal: AbortSignal) {
  const { old, uploads, workspaces, log, maxBatches = usualBatches } = parts;
  const { query } = parts.database;

  async function oldWorkspaces(days: number): Promise<string[]> {
    const idle: string[] = [];
    const ids = await workspaces.threads();
    for (let at = 0; at < ids.length; at += 500)
      idle.push(...(await idleThreads(query, ids.slice(at, at + 500), days)));
    return idle;
  }

  /** Says how many went, and whether there may be more. `days` null: what goes whatever the rule says. */
  async function removeSome(kind: RetentionKind, days: number | null): Promise<{ removed: number; more: boolean }> {
    const most = together[kind];
    const all = (removed: number, of = removed) => ({ removed, more: of >= most });
    if (days === null)
      return kind === "shares" ? all(await removeDueRows(query, kind, { days, most })) : { removed: 0, more: false };
    switch (kind) {
      case "threads":
      case "archivedThreads":
        return all(await old.threads({ archived: kind === "archivedThreads", days, most }));
      case "runs":
        return all(await old.runs({ days, most }));
      case "uploads": {
        const ids = await listDue(query, kind, { days, most });
        for (const id of ids) await uploads.removeById(id);
        return all(ids.length);
      }
      case "workspaces": {
        let removed = 0;
        for (const id of await oldWorkspaces(days)) {
          if (signal.aborted) break;
          // Asked once more: somebody may have gone on with it meanwhile.
          if ((await idleThreads(query, [id], days)).length === 0) continue;
          await workspaces.remove(id);
          removed++;
        }
        return { removed, more: false };
      }
      default:
        return all(await removeDueRows(query, kind, { days, most }));
    }
  }

  async function removeKind(
    kind: RetentionKind,
    days: number | null,
  ): Promise<RoundResult & { readonly more: boolean }> {
    let total = 0;
    let more = true;
    try {
      for (let batch = 0; batch < maxBatches && more && !signal.aborted; batch++) {
        const some = await removeSome(kind, days);
        total += some.removed;
        more = some.more;
        if (more) await keepRound(query);
      }
      return { kind, removed: total, error: null, more };
    } catch (error) {
      log.warn({ kind, error: messageOf(error) }, "could not remove expired data; retrying");
      return { kind, removed: total, error: messageOf(error).slice(0, 500), more: false };
    }
  }

  return { oldWorkspaces, removeKind };
}

/** Removes what is older than it is to be kept: when asked, and (`begin`) every hour on one node. */
export function createRetention(parts: RetentionDeps): Retention & { begin(): () => Promise<void> } {
  const { database, configured, log, withFiles } = parts;
  const { query } = database;
  const stopping = new AbortController();
  const { signal } = stopping;
  const { oldWorkspaces, removeKind } = createRemoval(parts, signal);

  async function round(
    now: boolean,
  ): Promise<{ readonly results: readonly RoundResult[]; readonly more: boolean } | undefined> {
    if (!(await takeRound(query, { now }))) return undefined;
    const results: RoundResult[] = [];
    let more = false;
    for (const { kind, days } of await readRules(query, configured)) {
      const needsFiles = kind === "uploads" || kind === "workspaces";
      // Links that have expired go at once, whatever the rule says.
      if (signal.aborted || (needsFiles && !withFiles) || (days === null && kind !== "shares")) continue;
      const { more: isLeft, ...result } = await removeKind(kind, days);
      results.push(result);
      more ||= isLeft;
    }
    await endRound(database, results);
    const gone = results.filter(({ removed }) => removed > 0).map(({ kind, removed }) => [kind, removed] as const);
    if (gone.length > 0) log.info(Object.fromEntries(gone), "removed expired data");
    return { results, more };
  }

  /** Rounds until nothing is left over, from the first that is due. */
  async function rounds(): Promise<void> {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const begun = performance.now();
      const done = await round(!isFirst);
      if (!done?.more) return;
      await delay(Math.min(longestRestMs, performance.now() - begun), undefined, { signal });
    }
  }

  const count = async (kind: RetentionKind, days: number) =>
    (await countDue(query, kind, days)) ?? (withFiles ? (await oldWorkspaces(days)).length : 0);

  return {
    rules: () => readRules(query, configured),
    set: (kind, days) => setRule(query, configured, { kind, days }),
    async preview(kind, days) {
      if (kind !== undefined && days !== undefined) return [{ kind, days, count: await count(kind, days) }];
      const due: { kind: RetentionKind; days: number; count: number }[] = [];
      for (const rule of await readRules(query, configured))
        if (rule.days !== null && (kind ?? rule.kind) === rule.kind)
          due.push({ kind: rule.kind, days: rule.days, count: await count(rule.kind, rule.days) });
      return due;
    },
    removeNow: async () => (await round(true))?.results,
    begin() {
      let working = Promise.resolve();
      const look = () =>
        (working = working.then(rounds).catch((error: unknown) => {
          if (!signal.aborted) log.warn({ error: messageOf(error) }, "retention failed; retrying at the next round");
        }));
      const timer = setInterval(look, lookEveryMs).unref();
      void look();
      return () => {
        stopping.abort(new Error("The server stops."));
        clearInterval(timer);
        return working;
      };
    },
  };
}

/** For `doctor`: how long things are kept, what would go now, and whether the last rounds went well. */
export async function retentionFindings(
  query: Database["query"],
  configured: ConfiguredDays,
): Promise<readonly Finding[]> {
  const about = "retention";
  const rules = await readRules(query, configured);
  const findings: Finding[] = [];
  for (const { kind, days, source, lastAt, lastRemoved, lastError } of rules) {
    if (days === null) continue;
    const due = await countDue(query, kind, days);
    const last = lastAt === null ? "" : `; last ${lastAt.toISOString()}: ${lastRemoved}`;
    const text = `${kind}: ${days} days (${source})${due === undefined ? "" : `; ${due} to delete now`}${last}`;
    findings.push(
      lastError === null ? { grade: "ok", about, text } : { grade: "trouble", about, text: `${text}; ${lastError}` },
    );
  }
  const kept = rules.filter(({ days }) => days === null).map(({ kind }) => kind);
  if (kept.length > 0) findings.push({ grade: "ok", about, text: `kept indefinitely: ${kept.join(", ")}` });
  return findings;
}
