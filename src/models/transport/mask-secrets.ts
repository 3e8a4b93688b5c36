const patterns: readonly (readonly [RegExp, string])[] = [
  // An image's worth of base64 says nothing in a log.
  [/(data:[\w.+/-]+;base64,)[A-Za-z0-9+/=]{64,}/g, "$1…"],
  [/(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{400,}={0,2}/g, "…base64…"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 ***"],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, "***"],
  [/\b(?:sk|pk|rk|csk|gsk|xai|tvly|hf|glpat|npm|whsec)[-_][A-Za-z0-9_-]{8,}/g, "***"],
  [/\b(?:gh[pousr]_|github_pat_|xox[abeoprs]-|AIza|AKIA|ASIA)[A-Za-z0-9_-]{8,}/g, "***"],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, "***"],
  [/(:\/\/[^\s:/@"\\]+:)[^\s@/"\\]+@/g, "$1***@"],
  [/((?:api[_-]?key|password|passwd|secret|access[_-]?token)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&]{4,}/gi, "$1***"],
];

/** Hides what looks like a secret in a text, and each of the known ones. */
export function maskSecrets(text: string, known: readonly string[] = []): string {
  let masked = text;
  for (const secret of known) if (secret.length >= 4) masked = masked.replaceAll(secret, "***");
  for (const [pattern, instead] of patterns) masked = masked.replaceAll(pattern, instead);
  return masked;
}
