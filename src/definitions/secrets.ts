import type { DefinitionKind, DefinitionProblem } from "../protocol/agents/definitions.ts";

type SecretPath = readonly string[];

/** What is shown instead of a secret. Sent back in its place, it leaves the secret as it is. */
const mask = "***";

/** What stands for a secret in a definition of this kind: all values of some groups, others by their key or form. */
function isSecret(kind: DefinitionKind, path: SecretPath, text: string): boolean {
  if (kind === "agent" || text === "") return false;
  const inGroup = kind === "model" ? path.includes("headers") : /^(headers|env|args)$/.test(path[0] ?? "");
  return inGroup || /(key|token|secret|password|authorization)$/i.test(path.at(-1) ?? "") || hidesInUrl(text);
}

/** An address may hold a password before its host, or a key in its query. */
function hidesInUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*@|[^?#]*\?)/i.test(text);
}

function shownText(text: string): string {
  const url = hidesInUrl(text) ? URL.parse(text) : null;
  if (!url || url.origin === "null") return mask;
  return `${url.origin}${url.pathname}?${mask}`;
}

/** Every text of a definition, changed by `change`; all else as it is. */
function mapTexts(value: unknown, change: (text: string, path: SecretPath) => string, path: SecretPath = []): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value)) return value.map((one, at) => mapTexts(one, change, [...path, String(at)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change, [...path, key])]));
}

/** A definition as people may see it, and the paths of what they don't. */
export function shownDefinition(
  kind: DefinitionKind,
  definition: unknown,
): { readonly definition: unknown; readonly secrets: readonly string[] } {
  const secrets: string[] = [];
  const shown = mapTexts(definition, (text, path) => {
    if (!isSecret(kind, path, text)) return text;
    secrets.push(path.join("."));
    return shownText(text);
  });
  return { definition: shown, secrets };
}

/**
 * What was given, with the secrets of before wherever they came back as they are shown. Not if they would go elsewhere now:
 * whoever may change an address does not learn by that what is sent to it.
 */
export function withSecrets(
  kind: DefinitionKind,
  given: unknown,
  before: unknown,
): { readonly definition: unknown; readonly problems: readonly DefinitionProblem[] } {
  const old = new Map<string, string>();
  mapTexts(before, (text, path) => {
    if (isSecret(kind, path, text)) old.set(path.join("."), text);
    return text;
  });
  const problems: DefinitionProblem[] = [];
  const kept: string[] = [];
  const definition = mapTexts(given, (text, path) => {
    const name = path.join(".");
    const known = old.get(name);
    if (known !== undefined && text === shownText(known)) {
      kept.push(name);
      return known;
    }
    if (kind !== "agent" && (text === mask || text.endsWith(`?${mask}`)))
      problems.push({
        path: name,
        message: `"${mask}" stands for a stored secret, but none is stored: enter the secret`,
      });
    return text;
  });
  if (kept.length > 0 && targetOf(kind, definition) !== targetOf(kind, before))
    for (const path of kept)
      problems.push({ path, message: "must be given again, since it would go to another address than before" });
  return { definition, problems };
}

/** Where the secrets go. */
function targetOf(kind: DefinitionKind, definition: unknown): string {
  const { provider, baseUrl, url, command, package: from } = (definition ?? {}) as Readonly<Record<string, unknown>>;
  const origin = (address: unknown) => (typeof address === "string" ? (URL.parse(address)?.origin ?? address) : "");
  return kind === "model"
    ? JSON.stringify([provider, origin(baseUrl), from])
    : JSON.stringify([origin(url), command ?? ""]);
}
