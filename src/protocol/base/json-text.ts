const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/**
 * JSON that PostgreSQL's jsonb takes: it refuses NUL and half surrogates, which models and files do contain.
 * They become U+FFFD. (`JSON.stringify` escapes exactly those surrogates that stand alone.)
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.includes("\\u") ? text.replace(unstorable, "$1\\ufffd") : text;
}

/** The same for a text column. */
export function plainText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}
