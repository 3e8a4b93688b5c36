import { z } from "zod";
import { isExactNumber } from "../base/exact-json.ts";
import type { Tool, ToolResult } from "./tools.ts";

/** What a call of `POST /api/tools/{name}` answers, on a server of agents as on one of tools alone. */
export const toolAnswerSchema = z.strictObject({
  success: z.boolean(),
  /** What a model would read. */
  answer: z.string(),
  data: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()),
});
export type ToolAnswerBody = z.infer<typeof toolAnswerSchema>;

export const listedToolSchema = z.object({
  name: z.string(),
  description: z.string(),
  endpoint: z.string(),
  parameters: z.record(z.string(), z.unknown()).describe("JSON Schema"),
  returns: z.string(),
  effect: z.enum(["read", "write"]),
  scope: z.enum(["remote", "local", "sandbox"]),
  destructive: z.boolean(),
  unasked: z.literal(true).optional().describe("Destructive, but needs no approval unless a rule says so"),
  sendsOut: z.boolean(),
  bringsIn: z.literal(true).optional().describe("Its results hold text that others wrote"),
  reaches: z.literal(true).optional().describe("A read that requests an address from its arguments"),
  hosts: z.array(z.string()).optional().describe("For tools that run code: the hosts that the code can reach"),
  isPublic: z.literal(true).optional().describe("Its results are public"),
  unavailable: z.string().optional().describe("Why it can't be used here, and how to fix that"),
  idempotent: z.boolean(),
  sameIntent: z
    .literal(true)
    .optional()
    .describe("Called again in a run with the same arguments, it is not done again"),
  permissions: z.array(z.string()),
  timeoutSeconds: z.number(),
  source: z.string(),
});
export type ListedTool = z.infer<typeof listedToolSchema>;

export function listedTool(tool: Tool): ListedTool {
  const { name, description, parameters, effect, scope, destructive, sendsOut, idempotent, permissions, source } = tool;
  return {
    name,
    description,
    endpoint: `/api/tools/${name}`,
    parameters,
    returns: "{success, answer, data, metadata}",
    effect,
    scope,
    destructive,
    ...(tool.unasked && { unasked: true }),
    sendsOut,
    ...(tool.bringsIn && { bringsIn: true }),
    ...(tool.reaches && { reaches: true }),
    ...(tool.hosts && { hosts: [...tool.hosts] }),
    ...(tool.isPublic && { isPublic: true }),
    ...(tool.unavailable === undefined ? {} : { unavailable: tool.unavailable }),
    idempotent,
    ...(tool.sameIntent && { sameIntent: true }),
    permissions: [...permissions],
    timeoutSeconds: tool.timeoutMs / 1000,
    source,
  };
}

export type ToolCallBody = { readonly input: Readonly<Record<string, unknown>>; readonly session?: string };

/**
 * The body of a call: the tool's parameters, and beside them `session_id` and `user`, unless these are parameters too. Who
 * asks is told by the login alone, so `user` changes nothing.
 */
export function readToolCall(
  body: Readonly<Record<string, unknown>>,
  { parameters }: Pick<Tool, "parameters">,
): ToolCallBody {
  const own = z.looseObject({ properties: z.looseObject({}).default({}) }).parse(parameters).properties;
  const { session_id, user, ...input } = body;
  const session =
    "session_id" in own || session_id === null || session_id === undefined ? undefined : nameIn(session_id);
  return {
    input: {
      ...input,
      ...("session_id" in own && session_id !== undefined ? { session_id } : {}),
      ...("user" in own && user !== undefined ? { user } : {}),
    },
    ...(session === undefined ? {} : { session }),
  };
}

/** Some clients count their sessions. */
function nameIn(session: unknown): string {
  return isExactNumber(session) ? session.rawJSON : String(session);
}

/** A result in that shape. A tool whose data has the shape already keeps it. */
export function toolAnswer({ content, data, isError = false }: ToolResult, metadata: object): ToolAnswerBody {
  const shaped = toolAnswerSchema.safeParse(data);
  if (shaped.success)
    return {
      ...shaped.data,
      success: shaped.data.success && !isError,
      metadata: { ...shaped.data.metadata, ...metadata },
    };
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  return {
    success: !isError,
    answer: content,
    data: isObject ? { ...data } : data === undefined ? {} : { value: data },
    metadata: { ...metadata },
  };
}
