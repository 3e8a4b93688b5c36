import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { defineTool } from "../core/define-tool.ts";

export type CurrentTime = { readonly iso: string; readonly weekday: string; readonly timezone: string };

export const now = defineTool({
  name: "now",
  description: "The current date, time and weekday. Use it whenever an answer depends on today's date or the time.",
  input: z.object({
    timezone: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .optional()
      .describe("IANA name such as Europe/Berlin; the server's own time zone if absent"),
  }),
  effect: "read",
  isPublic: true,
  execute: ({ timezone }) => describeMoment(new Date(), timezone),
});

/** A moment on the clocks of a time zone: ISO 8601 with the zone's offset. Throws InvalidInput for an unknown zone. */
export function describeMoment(moment: Date, timezone?: string): CurrentTime {
  const format = formatIn(timezone);
  const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
  // "GMT+02:00", and plain "GMT" for no offset.
  const offset = part["timeZoneName"]?.slice("GMT".length) || "+00:00";
  return {
    iso: `${part["year"]}-${part["month"]}-${part["day"]}T${part["hour"]}:${part["minute"]}:${part["second"]}${offset}`,
    weekday: part["weekday"] ?? "",
    timezone: format.resolvedOptions().timeZone,
  };
}

function formatIn(timezone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      weekday: "long",
      timeZoneName: "longOffset",
    });
  } catch (cause) {
    throw new InvalidInput(`Time zone ${JSON.stringify(timezone)} not found. Use an IANA name such as Europe/Berlin.`, {
      cause,
    });
  }
}
