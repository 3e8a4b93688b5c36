import { z } from "zod";
import { modelConfigSchema, type ModelConfig } from "../models/config.ts";
import { type AgentDefinition, agentSchema } from "../protocol/agents/agents.ts";
import type { DefinitionKind, DefinitionProblem } from "../protocol/agents/definitions.ts";
import { type McpServerConfig, mcpServerSchema, mcpServersSchema } from "../protocol/agents/mcp-servers.ts";
import { schemaProblems } from "../protocol/agents/schema-problems.ts";
import { isRefusedHost, refusedHost } from "../egress/secret-hosts.ts";

/** What each kind is once it has been checked. */
export type DefinitionTypes = {
  readonly agent: AgentDefinition;
  readonly model: ModelConfig;
  readonly "mcp-server": McpServerConfig;
};

export type ParseResult<Kind extends DefinitionKind> =
  | { readonly ok: true; readonly definition: DefinitionTypes[Kind] }
  | { readonly ok: false; readonly problems: readonly DefinitionProblem[] };

export type ParsePolicy = {
  /** Whether a definition may name programs and packages, which then run in this server. */
  readonly programs: boolean;
};

const maxCharacters = 1_000_000;
const providers = modelConfigSchema.options.flatMap(({ shape: { provider } }) =>
  provider instanceof z.ZodLiteral ? [...provider.values] : [],
);
/** In the head of a request. */
export const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const programsHint =
  "Set definitions.programs (COLLOQUY_DEFINITIONS__PROGRAMS=admins) to allow it, or put this into colloquy.yaml.";

/** By the same schemas as files, with all problems at once. `definition` has no id of its own. */
export function parseDefinition<Kind extends DefinitionKind>(
  kind: Kind,
  { id, definition }: { readonly id: string; readonly definition: unknown },
  policy: ParsePolicy,
): ParseResult<Kind> {
  if (typeof definition !== "object" || definition === null || Array.isArray(definition))
    return { ok: false, problems: [{ path: "", message: "must be an object" }] };
  if (JSON.stringify(definition).length > maxCharacters)
    return { ok: false, problems: [{ path: "", message: `is longer than ${maxCharacters} characters` }] };
  const { value, problems } = parsers[kind](id, definition as Readonly<Record<string, unknown>>);
  const all = [...problems, ...ownProblems(kind, definition as Readonly<Record<string, unknown>>, policy)];
  return all.length > 0 || value === undefined ? { ok: false, problems: all } : { ok: true, definition: value };
}

type ParsedDefinition<Value> = { readonly value?: Value; readonly problems: readonly DefinitionProblem[] };
type Parser<Value> = (id: string, definition: Readonly<Record<string, unknown>>) => ParsedDefinition<Value>;

const parsers: { readonly [Kind in DefinitionKind]: Parser<DefinitionTypes[Kind]> } = {
  agent(id, definition) {
    const parsed = agentSchema.safeParse({ ...definition, id });
    return parsed.success
      ? { value: parsed.data, problems: [] }
      : { problems: schemaProblems(parsed.error, agentSchema) };
  },
  model(id, definition) {
    if (id === "default")
      return {
        problems: [{ path: "id", message: "must be another one: which model is the default is said in the defaults" }],
      };
    if (definition["provider"] === undefined && definition["fallback"] === undefined)
      return {
        problems: [
          {
            path: "provider",
            message: `is missing; it must be one of ${providers.join(", ")}, or fallback must name models`,
          },
        ],
      };
    const parsed = modelConfigSchema.safeParse({ ...definition, id });
    return parsed.success
      ? { value: parsed.data, problems: [] }
      : { problems: schemaProblems(parsed.error, modelConfigSchema) };
  },
  "mcp-server"(name, definition) {
    // The name's rule is that of a key among all servers.
    const named = mcpServersSchema.safeParse({ [name]: { disabled: true } });
    const parsed = mcpServerSchema.safeParse(definition);
    const problems = [
      ...(named.success ? [] : [{ path: "id", message: messageOfKey(named.error.issues[0]) }]),
      ...(name === "__proto__" ? [{ path: "id", message: "can't be this word" }] : []),
      ...(parsed.success ? [] : schemaProblems(parsed.error, mcpServerSchema)),
    ];
    return parsed.success ? { value: parsed.data, problems } : { problems };
  },
};

function messageOfKey(issue: { readonly message: string; readonly issues?: unknown } | undefined): string {
  const [inner] = Array.isArray(issue?.issues) ? (issue.issues as readonly { readonly message: string }[]) : [];
  return inner?.message ?? issue?.message ?? "is not a name";
}

/** What files may say and the API may not. */
function ownProblems(
  kind: DefinitionKind,
  definition: Readonly<Record<string, unknown>>,
  { programs }: ParsePolicy,
): DefinitionProblem[] {
  if (kind === "agent") return [];
  const problems: DefinitionProblem[] = [];
  if (!programs && kind === "mcp-server" && definition["command"] !== undefined)
    problems.push({ path: "command", message: `would start a program on this machine. ${programsHint}` });
  if (!programs && kind === "model" && definition["provider"] === "ai-sdk")
    problems.push({ path: "package", message: `would load code into this server. ${programsHint}` });
  for (const key of ["baseUrl", "url"])
    if (isRefusedHost(definition[key])) problems.push({ path: key, message: refusedHost });
  for (const [path, text] of headerTexts(definition))
    if (!headerValue.test(text))
      problems.push({ path, message: "has a line break or another character that can't be sent: copy it again" });
  for (const key of ["apiKey", "baseUrl", "url", "headers", "env", "auth"])
    if (/\$\{[A-Za-z_]/.test(JSON.stringify(definition[key]) ?? ""))
      problems.push({ path: key, message: "${…} is replaced in files only: give the value itself" });
  return problems;
}

/** What goes into the head of requests. */
function headerTexts({
  apiKey,
  headers,
}: Readonly<Record<string, unknown>>): (readonly [path: string, text: string])[] {
  const given = typeof headers === "object" && headers !== null ? Object.entries(headers) : [];
  return [["apiKey", apiKey] as const, ...given.map(([name, value]) => [`headers.${name}`, value] as const)].flatMap(
    ([path, text]) => (typeof text === "string" ? [[path, text] as const] : []),
  );
}
