/** How something stands. `busy`: at work now. */
export type Grade = "ok" | "busy" | "warn" | "bad" | "quiet";

export const marks: Readonly<Record<Grade, string>> = { ok: "●", busy: "◐", warn: "▲", bad: "■", quiet: "○" };
