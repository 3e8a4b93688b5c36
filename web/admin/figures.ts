const language = document.documentElement.lang;
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const money = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });

export function figure(value: number): string {
  return (Math.abs(value) < 10_000 ? whole : short).format(value);
}

/** In the unit of `prices`, which the server does not name. */
export function cost(value: number): string {
  return money.format(value);
}

export function duration(milliseconds: number | null): string {
  if (milliseconds === null) return "–";
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${whole.format(milliseconds / 1000)} s`;
}

export function time(iso: string): string {
  return new Date(iso).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
}

/** A day or an hour as the server's log groups them (UTC). */
export function period(key: string): string {
  const at = new Date(key);
  if (Number.isNaN(at.getTime())) return key;
  return key.includes("T")
    ? `${at.getUTCHours().toString().padStart(2, "0")}:00`
    : at.toLocaleDateString(language, { day: "numeric", month: "short", timeZone: "UTC" });
}
