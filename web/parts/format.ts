import { locale } from "../browser/language.ts";
import { serverNow } from "../browser/server-time.ts";

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
export const currency = document.documentElement.dataset["currency"] ?? "USD";
const currencyStyle = { style: "currency", currency, currencyDisplay: "narrowSymbol" } as const;
const money = new Intl.NumberFormat(locale, currencyStyle);
const change = new Intl.NumberFormat(locale, { ...currencyStyle, minimumFractionDigits: 2, maximumFractionDigits: 4 });
const littleMoney = new Intl.NumberFormat(locale, { ...currencyStyle, maximumSignificantDigits: 3 });

export function figure(value: number): string {
  return (Math.abs(value) < 10_000 ? whole : short).format(value);
}

/** In the currency of the server's prices, which the document names; a part of a cent too. */
export function cost(value: number): string {
  const amount = Math.abs(value);
  return (amount >= 1 || amount === 0 ? money : amount < 0.01 ? littleMoney : change).format(value);
}

export function duration(milliseconds: number | null): string {
  if (milliseconds === null) return "–";
  if (milliseconds < 1000) return withUnit(Math.round(milliseconds), "ms");
  if (milliseconds < 120_000) return withUnit(milliseconds / 1000, "s");
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 120) return withUnit(minutes, "min");
  const hours = Math.round(minutes / 60);
  return hours < 48 ? withUnit(hours, "h") : withUnit(Math.round(hours / 24), "d");
}

/** Number and unit stay in this order, also among words that are read from right to left. */
function withUnit(value: number, unit: string): string {
  const text = `${whole.format(value)} ${unit}`;
  return document.documentElement.dir === "rtl" ? `\u2066${text}\u2069` : text;
}

/** Whether a time has come. */
export function isPast(iso: string): boolean {
  return Date.parse(iso) < serverNow();
}

/** As short as it says which it is: of today the time alone. */
export function moment(iso: string): string {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date(serverNow()).toDateString();
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  return at.toLocaleString(locale, { ...day, hour: "2-digit", minute: "2-digit" });
}

export function time(iso: string): string {
  return new Date(iso).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

/** A day or an hour as the server's log groups them (UTC). */
export function period(key: string): string {
  const at = new Date(key);
  if (Number.isNaN(at.getTime())) return key;
  return key.includes("T")
    ? `${at.getUTCHours().toString().padStart(2, "0")}:00`
    : at.toLocaleDateString(locale, { day: "numeric", month: "short", timeZone: "UTC" });
}

const sizes = ["kilobyte", "megabyte", "gigabyte"] as const;

/** Of a file. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const step = Math.min(sizes.length, Math.floor(Math.log2(bytes) / 10));
  const unit = new Intl.NumberFormat(locale, { style: "unit", unit: sizes[step - 1], maximumFractionDigits: 1 });
  return unit.format(bytes / 1024 ** step);
}

const secondsIn = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;

/** A time as people say it, in the longest unit of which it is a whole number: "2 minutes". */
export function lasting(seconds: number): string {
  const units = Object.entries(secondsIn);
  const [unit, each] = units.findLast(([, length]) => seconds !== 0 && seconds % length === 0) ?? units[0]!;
  const said = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 3 });
  return said.format(seconds / each);
}

const list = new Intl.ListFormat(locale, { type: "unit", style: "short" });

export function listed(names: readonly string[]): string {
  return list.format(names);
}
