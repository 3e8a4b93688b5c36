import { describeMoment } from "../../tools/basic/now.ts";

/** Date, weekday and time for a prompt, on the server's clock. */
export function currentTimeText(moment: Date): string {
  const { weekday, iso, timezone } = describeMoment(moment);
  return `${weekday}, ${iso} (${timezone})`;
}
