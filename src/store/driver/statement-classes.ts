import { graceMs } from "./deadline.ts";

/**
 * Purpose of a statement, which decides how long it may take. `heart`: all that a run or a request waits for. `listing`: searches,
 * lists and what comes round by itself. `maintenance`: what goes over whole tables, such as migrations, indexes and moves.
 * `pulse`: that this process is alive, which waits for none of the others.
 */
export type StatementClass = "pulse" | "heart" | "listing" | "maintenance";

export type Deadlines = { readonly [Seconds in `${Exclude<StatementClass, "pulse">}Seconds`]: number };
export const defaultDeadlines: Deadlines = { heartSeconds: 5, listingSeconds: 60, maintenanceSeconds: 3600 };

export type KindSettings = {
  /** Connections at most. */
  readonly connections: number;
  readonly statementMs: number;
  /** For a new connection, or a free one. */
  readonly connectMs: number;
  /** Options sent to the server when a connection starts. */
  readonly options: string;
};

/** How long it waits for a lock, and how long a transaction may stand idle with its locks held. */
const waits = {
  pulse: { lockMs: 1000, idleMs: 10_000 },
  heart: { lockMs: 2000, idleMs: 10_000 },
  listing: { lockMs: 0, idleMs: 10_000 },
  maintenance: { lockMs: 0, idleMs: 60_000 },
};
const longestConnectMs = 60_000;
/** So short that a second try on a new connection comes before a lease of ten seconds is over. */
const pulseSeconds = 3;

export function settingsOf(kind: StatementClass, deadlines: Deadlines, connections: number): KindSettings {
  const { heartSeconds, listingSeconds, maintenanceSeconds } = deadlines;
  const seconds = {
    pulse: Math.min(heartSeconds, pulseSeconds),
    heart: heartSeconds,
    listing: listingSeconds,
    maintenance: maintenanceSeconds,
  };
  const statementMs = Math.max(1, Math.round(seconds[kind] * 1000));
  const { lockMs, idleMs } = waits[kind];
  const settings = {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
    // To compile a plan that was judged expensive takes a tenth of a second, mostly for some rows.
    jit: "off",
    // What is looked at behind a lock must be newer than the lock, whatever the server's default is.
    default_transaction_isolation: "read\\ committed",
    // A peer that is gone without a word is found after some 20 seconds; its locks go before, as above.
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 3,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 20_000,
  };
  return {
    connections: connectionsOf(kind, connections),
    statementMs,
    // Whoever waits for one of connections that have all fallen silent gets the next.
    connectMs: Math.min(longestConnectMs, statementMs + 2 * graceMs),
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
  };
}

/** Divides the configured connections: a tenth for maintenance, a quarter for lists, the rest for the heart. One more for the pulse. */
function connectionsOf(kind: StatementClass, all: number): number {
  const maintenance = Math.max(1, Math.floor(all / 10));
  const listing = Math.max(1, Math.floor(all / 4));
  return { pulse: 1, maintenance, listing, heart: Math.max(1, all - maintenance - listing) }[kind];
}

/** A URL may have options of its own. */
export function urlWith(url: string, options: string): string {
  const at = url.indexOf("?");
  const parameters = new URLSearchParams(at < 0 ? "" : url.slice(at));
  const own = parameters.get("options");
  parameters.set("options", own === null ? options : `${own} ${options}`);
  return `${at < 0 ? url : url.slice(0, at)}?${parameters}`;
}
