import type { DefinitionKind } from "./definitions.ts";

/**
 * What a definition would run on this machine, as a person confirms it: the command with its settings, or a model's package.
 * Undefined: nothing.
 */
export function commandLineOf(kind: DefinitionKind, definition: Readonly<Record<string, unknown>>): string | undefined {
  if (kind === "model") return definition["provider"] === "ai-sdk" ? plainValue(definition["package"]) : undefined;
  const { command, args, env, cwd } = definition;
  if (kind !== "mcp-server" || command === undefined) return undefined;
  const settings = typeof env === "object" && env !== null ? Object.entries(env) : [];
  return [
    ...(cwd === undefined ? [] : ["cd", quoted(cwd), "&&"]),
    ...settings.map(([name, value]) => `${name}=${quoted(value)}`),
    quoted(command),
    ...(Array.isArray(args) ? args.map(quoted) : []),
  ].join(" ");
}

function quoted(value: unknown): string {
  const text = plainValue(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function plainValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
