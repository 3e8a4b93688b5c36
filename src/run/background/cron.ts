import { InvalidInput } from "../../protocol/base/errors.ts";

const minutesOf = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60 } as const;
const hour = minutesOf.h;
const field = /^(?:[\d*/,?#L-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)+$/i;

/** Five fields with single spaces; what is in them, the engine checks. Throws InvalidInput. */
export function cronOf(text: string): string {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5 || text.length > 200 || !fields.every((part) => field.test(part)))
    throw new InvalidInput(
      `"${text.slice(0, 200)}" is not a cron expression: it needs five fields (minute, hour, day, month, weekday).`,
      { param: "cron" },
    );
  return fields.join(" ");
}

/** `15m`, `1h`, `1d` as cron, where cron says exactly that: the steps must fill an hour or a day. Throws InvalidInput. */
export function cronOfEvery(text: string): string {
  const match = /^(\d{1,4})([mhdw])$/.exec(text.trim());
  const minutes = match ? Number(match[1]) * minutesOf[match[2] as keyof typeof minutesOf] : 0;
  const hours = minutes / hour;
  if (minutes > 0 && minutes < hour && hour % minutes === 0)
    return minutes === 1 ? "* * * * *" : `*/${minutes} * * * *`;
  if (Number.isInteger(hours) && hours < 24 && 24 % hours === 0)
    return hours === 1 ? "0 * * * *" : `0 */${hours} * * *`;
  if (minutes === minutesOf.d) return "0 0 * * *";
  if (minutes === minutesOf.w) return "0 0 * * 1";
  throw new InvalidInput(
    `"${text.slice(0, 20)}" does not fill an hour, a day or a week: take 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30m, 1, 2, 3, 4, 6, 8 or 12h, 1d or 1w, or give cron.`,
    { param: "every" },
  );
}
