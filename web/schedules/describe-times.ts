import { plural, t } from "@lingui/core/macro";
import { locale } from "../browser/language.ts";
import { recurrenceOf } from "./recurrence.ts";

// The first of January 2023 was a Sunday.
const names = Array.from({ length: 7 }, (_, day) =>
  new Date(Date.UTC(2023, 0, 1 + day)).toLocaleDateString(locale, { weekday: "long", timeZone: "UTC" }),
);

export const weekdayName = (day: string) => names[Number(day)] ?? day;

/** `15m` in words. */
export function spanText(span: string): string {
  const count = Number(span.slice(0, -1));
  return span.endsWith("m")
    ? plural(count, { one: "minute", other: "# minutes" })
    : plural(count, { one: "hour", other: "# hours" });
}

/** When a schedule is due, in words. */
export function whenText(cron: string): string {
  const { kind, at, weekday, day, every } = recurrenceOf(cron);
  if (kind === "cron") return t`cron ${cron}`;
  if (kind === "every") return t`every ${{ span: spanText(every) }}`;
  if (kind === "week") return t`every ${{ day: weekdayName(weekday) }} at ${at}`;
  if (kind === "month") return t`on day ${day} of every month at ${at}`;
  return kind === "day" ? t`every day at ${at}` : t`Monday to Friday at ${at}`;
}

export const ownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const dueStyle: Intl.DateTimeFormatOptions = {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
};
const due = new Intl.DateTimeFormat(locale, dueStyle);
const dueWithZone = new Intl.DateTimeFormat(locale, { ...dueStyle, timeZoneName: "short" });

/** When it is due, on this machine's clock; of a schedule in another zone this one's is named. */
export function dueText(iso: string, timeZone = ownTimeZone): string {
  return (timeZone === ownTimeZone ? due : dueWithZone).format(new Date(iso));
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
