export const recurrenceKinds = ["day", "weekdays", "week", "month", "every", "cron"] as const;
export type RecurrenceKind = (typeof recurrenceKinds)[number];

/** How often, as people say it; of the fields only those count that its kind needs. */
export type Recurrence = {
  readonly kind: RecurrenceKind;
  /** `08:30` */
  readonly at: string;
  /** 0 is Sunday. */
  readonly weekday: string;
  readonly day: string;
  /** `15m`, `6h` */
  readonly every: string;
  readonly cron: string;
};

/** Spans that fill an hour or a day: what the server takes. */
export const spans = ["5m", "10m", "15m", "30m", "1h", "2h", "3h", "4h", "6h", "12h"] as const;

const usual: Recurrence = {
  kind: "weekdays",
  at: "08:30",
  weekday: "1",
  day: "1",
  every: "1h",
  cron: "30 8 * * mon-fri",
};

/** Of a new schedule, or of what is kept; a cron expression that says more than people do stays one. */
export function recurrenceOf(cron: string | undefined): Recurrence {
  if (cron === undefined) return usual;
  const given = { ...usual, cron };
  const every = everyOf(cron);
  if (every !== undefined) return { ...given, kind: "every", every };
  const [, minute, hour, day, weekday] = /^(\d{1,2}) (\d{1,2}) (\d{1,2}|\*) \* (\S+)$/.exec(cron) ?? [];
  if (minute === undefined || hour === undefined) return { ...given, kind: "cron" };
  const at = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day !== "*") return weekday === "*" ? { ...given, kind: "month", at, day: day! } : { ...given, kind: "cron" };
  if (weekday === "*") return { ...given, kind: "day", at };
  if (weekday === "mon-fri" || weekday === "1-5") return { ...given, kind: "weekdays", at };
  return /^[0-6]$/.test(weekday!) ? { ...given, kind: "week", at, weekday: weekday! } : { ...given, kind: "cron" };
}

function everyOf(cron: string): string | undefined {
  if (cron === "0 * * * *") return "1h";
  const minutes = /^\*\/(\d+) \* \* \* \*$/.exec(cron)?.[1];
  const hours = /^0 \*\/(\d+) \* \* \*$/.exec(cron)?.[1];
  const every = minutes === undefined ? `${hours}h` : `${minutes}m`;
  return spans.some((span) => span === every) ? every : undefined;
}

/** Of a cron expression, which has five. */
export function fieldsOf(cron: string): readonly string[] {
  return cron.split(/\s+/).filter((field) => field !== "");
}

/** For the server; undefined while it is not whole. */
export function cronOf({ kind, at, weekday, day, every, cron }: Recurrence): string | undefined {
  if (kind === "cron") return fieldsOf(cron).length === 5 ? cron.trim() : undefined;
  if (kind === "every") {
    const count = every.slice(0, -1);
    if (every.endsWith("m")) return `*/${count} * * * *`;
    return count === "1" ? "0 * * * *" : `0 */${count} * * *`;
  }
  const [hour, minute] = at.split(":").map(Number);
  if (hour === undefined || minute === undefined || Number.isNaN(hour + minute)) return undefined;
  const days = { day: "* * *", weekdays: "* * mon-fri", week: `* * ${weekday}`, month: `${day} * *` }[kind];
  return `${minute} ${hour} ${days}`;
}
