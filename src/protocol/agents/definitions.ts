import { z } from "zod";
import { mcpServerStateSchema } from "./mcp-servers.ts";
import { type Shape, timeSchema } from "../base/shapes.ts";

/** What admins define without touching files. */
export const definitionKinds = ["agent", "model", "mcp-server"] as const;
export type DefinitionKind = (typeof definitionKinds)[number];

/** What there may be a default of: who answers, and what thinks, where nobody is named. */
export const defaultKinds = ["agent", "model"] as const;
export type DefaultKind = (typeof defaultKinds)[number];

/**
 * Where something is defined, the strongest first. `environment` and `file` are not ours to change. `found`: a model server
 * that the start came upon.
 */
export const definitionSources = ["environment", "file", "database", "found", "built-in"] as const;
export type DefinitionSource = (typeof definitionSources)[number];

/** `where`: the variable, or the file and line; null where that says nothing more. */
export type DefinitionPlace = { readonly source: DefinitionSource; readonly where: string | null };

export const definitionStates = ["active", "shadowed", "refused"] as const;
/** `shadowed`: something stronger defines the same id. `refused`: it can't be right, or not beside the others. */
export type EntryState = (typeof definitionStates)[number];

export const problemSchema = z.object({
  path: z.string().describe("In the definition; empty: the whole"),
  message: z.string(),
});
/** `path` leads to the fault in the definition; empty: it is about the whole. */
export type DefinitionProblem = Shape<typeof problemSchema>;

/** Something that is defined: in a file, in the environment, or by an admin. What all kinds have. */
export const entrySchema = z.object({
  id: z.string(),
  source: z.enum(definitionSources),
  where: z.string().nullable().describe("The variable, or the file and its line"),
  readOnly: z.boolean().describe("Set from outside: to be changed where it is set"),
  state: z
    .enum(definitionStates)
    .describe("shadowed: something stronger defines this id. refused: it can't be right. `problems` says why"),
  problems: z.array(problemSchema),
  revision: z.string().nullable().describe("For database entries: changes with each update"),
  createdBy: z.string().nullable(),
  createdAt: timeSchema.nullable(),
  changedBy: z.string().nullable(),
  updatedAt: timeSchema.nullable(),
  definition: z
    .unknown()
    .describe("As it would stand in a file. Secrets are ***, which sent back leaves them as they are"),
  secrets: z.array(z.string()).describe("Which secrets are set, by their paths"),
});
export type EntryView = Shape<typeof entrySchema>;

export type Definition = Readonly<Record<string, unknown>>;
export type DefinedView = Omit<EntryView, "definition"> & { readonly definition: Definition | null };

/** What agents have besides. */
export const agentDoingSchema = z.object({
  model: z.string().nullable().describe("The model that it currently uses"),
  warnings: z.array(z.string()).describe("Names in it that don't exist"),
});
export type DefinedAgent = DefinedView & Shape<typeof agentDoingSchema>;

export const reaches = ["this machine", "private network", "internet"] as const;
/** How far an address is: on this machine, in a network that is not the internet (as far as its name says), or there. */
export type NetworkReach = (typeof reaches)[number];

const modelHealthSchema = z.object({
  lastUsedAt: timeSchema,
  lastError: z.string().nullable(),
  lastErrorAt: timeSchema.nullable(),
  requests: z.int().describe("Of the last day"),
  errors: z.int(),
});
export type ModelHealthView = Shape<typeof modelHealthSchema>;

/** What models have besides. */
export const modelDoingSchema = z.object({
  provider: z.string(),
  name: z.string().describe("As the provider knows it"),
  available: z.boolean(),
  reason: z.string().optional().describe("Why it is not available"),
  reach: z
    .enum(reaches)
    .nullable()
    .describe("How far its address is; only what its name says counts. null: the provider's own"),
  health: modelHealthSchema.nullable().describe("null: not asked within a week"),
});
export type DefinedModel = DefinedView & Shape<typeof modelDoingSchema>;

/** What MCP servers have besides. */
export const serverDoingSchema = z.object({
  server: mcpServerStateSchema
    .nullable()
    .describe("How it is doing on this node, for you where each user signs in; null: it is not connected to"),
});
export type DefinedMcpServer = DefinedView & Shape<typeof serverDoingSchema>;

/** Which agent answers, or which model thinks, where none is named. */
export const defaultSchema = z.object({
  of: z.enum(defaultKinds),
  value: z.string().nullable().describe("null: each way in has its own"),
  source: z.enum(definitionSources),
  where: z.string().nullable(),
  readOnly: z.boolean(),
  revision: z.string().nullable(),
  problem: z.string().nullable().describe("Why the setting has no effect"),
});
export type DefaultView = Shape<typeof defaultSchema>;
