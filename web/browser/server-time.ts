import { createStoredChoice } from "./stored-choice.ts";

/** What passes on the way, and what nobody notices. */
const toleranceMs = 2000;

/** How far the server's clock is ahead of this one's, kept for what is shown before the server is heard again. */
const ahead = createStoredChoice("server-ahead");

/** Told by whoever hears the server, so long after it said so: a tab that was frozen hears late. */
export function noteServerTime(iso: string, agoMs: number): void {
  const ms = Date.parse(iso) + agoMs - Date.now();
  if (Math.abs(ms - aheadMs()) > toleranceMs) ahead.set(Math.abs(ms) < toleranceMs ? "" : String(ms));
}

/** The time at the server, which its times are of: this computer's clock may be wrong. */
export function serverNow(): number {
  return Date.now() + aheadMs();
}

function aheadMs(): number {
  return Number(ahead.get()) || 0;
}
