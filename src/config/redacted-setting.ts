/** A setting as a person may see it: of a webhook's address, and of one with a query, only where it leads. */
export function redactedSetting(path: string, value: unknown): string {
  if (typeof value !== "string" || !/^https?:\/\//i.test(value)) return String(value);
  const url = URL.parse(value);
  // What can't be read can't be cut either.
  if (!url) return "…";
  const whole = !path.startsWith("webhooks") && url.search === "" && url.hash === "";
  return whole ? value : `${url.origin}/…`;
}
