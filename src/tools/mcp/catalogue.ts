import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { messageOf } from "../../protocol/base/errors.ts";
import type { McpServerConfig } from "../../protocol/agents/mcp-servers.ts";
import type { Tool, ToolContext, ToolResult, ToolServer } from "../../protocol/agents/tools.ts";
import { selectsByGlobs } from "../../protocol/base/glob.ts";
import { modelNames } from "./model-names.ts";
import { type ConvertedSchema, convertSchema } from "./schema.ts";

/** A tool as a server lists it. Loose: one odd tool must not hide the others. */
export const listedToolSchema = z.looseObject({
  name: z.string().min(1).max(1000),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  annotations: z
    .looseObject({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
      openWorldHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type McpToolEntry = z.infer<typeof listedToolSchema>;

export type UnusableTool = { readonly tool: string; readonly reason: string };

/** What a server offers, as of one listing. */
export type Catalogue = {
  readonly tools: readonly Tool[];
  readonly unusable: readonly UnusableTool[];
  /** By the server's own names. */
  readonly listed: ReadonlyMap<string, McpToolEntry>;
  /** What was made of each schema, by its text, so that another listing need not make it again. */
  readonly converted: ReadonlyMap<string, ConvertedSchema>;
};

export const emptyCatalogue: Catalogue = { tools: [], unusable: [], listed: new Map(), converted: new Map() };

export type CatalogueOptions = {
  readonly server: string;
  readonly config: McpServerConfig;
  /** For a call altogether; the tool's own time and what it takes to connect. */
  readonly timeoutMs: number;
  readonly before: Catalogue;
  readonly execute: (tool: McpToolEntry, input: unknown, context: ToolContext) => Promise<ToolResult>;
};

const maxDescription = 8000;

/** Makes tools of what a server listed, in slices, since checking many schemas takes a while. */
export async function makeCatalogue(listing: readonly unknown[], options: CatalogueOptions): Promise<Catalogue> {
  const { server, config, before } = options;
  const globs = config.tools ?? [];
  const isTaken = selectsByGlobs(globs.every((glob) => glob.startsWith("!")) ? ["*", ...globs] : globs);
  const unusable: UnusableTool[] = [];
  const listed = new Map<string, McpToolEntry>();
  for (const [at, each] of listing.entries()) {
    const parsed = listedToolSchema.safeParse(each);
    if (!parsed.success) unusable.push({ tool: `#${at + 1}`, reason: "it has no usable name" });
    else if (isTaken(parsed.data.name)) listed.set(parsed.data.name, parsed.data);
  }
  const converted = new Map<string, ConvertedSchema>();
  const usable: { tool: McpToolEntry; schema: ConvertedSchema }[] = [];
  for (const tool of listed.values()) {
    try {
      if (config.command === undefined) checkHeaderParameters(tool.inputSchema);
      const text = JSON.stringify(tool.inputSchema) ?? "";
      const known = before.converted.get(text) ?? converted.get(text);
      if (!known) await setImmediate();
      const schema = known ?? convertSchema(tool.inputSchema);
      converted.set(text, schema);
      usable.push({ tool, schema });
    } catch (error) {
      unusable.push({ tool: tool.name, reason: messageOf(error) });
    }
  }
  const names = modelNames(
    config.prefix ?? server,
    usable.map(({ tool }) => tool.name),
  );
  const tools = usable.map(({ tool, schema }, at) => makeTool(names[at]!, { tool, schema, ...options }));
  return { tools, unusable, listed, converted };
}

function makeTool(
  name: string,
  {
    tool,
    schema,
    server,
    config,
    timeoutMs,
    execute,
  }: CatalogueOptions & { tool: McpToolEntry; schema: ConvertedSchema },
): Tool {
  return {
    name,
    description: descriptionOf(tool, { server, note: schema.note }),
    input: schema.input,
    keepsNumbers: true,
    parameters: schema.parameters,
    ...toolTraits(tool, config),
    server: serverOf(server, config, tool.annotations?.openWorldHint),
    scope: "remote",
    ...(config.trusted ? {} : { bringsIn: true as const }),
    permissions: [],
    timeoutMs,
    source: `mcp:${server}`,
    execute: (input, context) => execute(tool, input, context),
  };
}

function descriptionOf(
  { name, title, description, annotations }: McpToolEntry,
  { server, note }: { server: string; note?: string | undefined },
): string {
  const text = description?.trim() || title || annotations?.title || `The tool ${name} of ${server}.`;
  const cut = text.length > maxDescription ? `${text.slice(0, maxDescription)}\n[cut here]` : text;
  return note === undefined ? cut : `${cut}\n${note}`;
}

/**
 * What is known of a tool's effect. The specification's own assumption where a server says nothing: it writes, and may
 * destroy; so a person is asked, who can answer "always". The operator's word counts more than the server's.
 */
export function toolTraits(
  { name, annotations }: McpToolEntry,
  { effects = {} }: McpServerConfig,
): Pick<Tool, "effect" | "destructive" | "sendsOut" | "idempotent"> {
  const { readOnlyHint, destructiveHint = true, idempotentHint = false } = annotations ?? {};
  const glob = Object.keys(effects).find((each) => selectsByGlobs([each])(name));
  const said = effects[name] ?? (glob === undefined ? undefined : effects[glob]);
  if (said === "read" || (said === undefined && readOnlyHint))
    return { effect: "read", destructive: false, sendsOut: false, idempotent: true };
  const destructive = said === undefined ? destructiveHint : said === "destructive";
  return { effect: "write", destructive, sendsOut: said === "sends", idempotent: idempotentHint };
}

/** Whom a tool's arguments are told. */
export function serverOf(name: string, config: McpServerConfig, openWorld?: boolean): ToolServer {
  return { name, isConfined: config.confined === true, ...(openWorld === undefined ? {} : { openWorld }) };
}

/** The keyword by which a server has an argument repeated in a header, where proxies can read it. */
const keyword = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const permitted: readonly unknown[] = ["string", "integer", "boolean"];

/** Throws what is wrong with a schema's arguments in headers: such a tool can't be called over HTTP. */
function checkHeaderParameters(inputSchema: unknown): void {
  const seen = new Set<string>();
  // Only what `properties` alone lead to has one value in every call.
  const visit = (schema: unknown, isReachable: boolean): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties, ...others } = schema as Readonly<Record<string, unknown>>;
    if (keyword in others) checkOne(others, { isReachable, seen });
    for (const property of valuesOf(properties)) visit(property, isReachable);
    for (const [key, other] of Object.entries(others))
      if (!["default", "examples", "enum", "const"].includes(key))
        for (const part of [other, ...valuesOf(other)]) if (isSchema(part)) visit(part, false);
  };
  for (const property of valuesOf((inputSchema as { readonly properties?: unknown })?.properties))
    visit(property, true);
}

function checkOne(
  { [keyword]: name, type }: Readonly<Record<string, unknown>>,
  { isReachable, seen }: { readonly isReachable: boolean; readonly seen: Set<string> },
): void {
  const problem = (what: string) => new TypeError(`its ${keyword} ${JSON.stringify(name)} ${what}`);
  if (typeof name !== "string" || !token.test(name)) throw problem("is no name of a header");
  if (!isReachable) throw problem("is where an argument may be missing or there several times");
  if (!permitted.includes(type)) throw problem("is not of a string, integer or boolean");
  if (seen.has(name.toLowerCase())) throw problem("is there twice");
  seen.add(name.toLowerCase());
}

function valuesOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function isSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
