import { z } from "zod";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";
import type { Effect, PlannedWrite, Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { toToolResult } from "./tool-result.ts";

/** Definition of a tool, as its author writes it. Omitted flags are false. Without `scope`, the tool works on another system. */
export type ToolDefinition<Input extends z.ZodType> = {
  readonly name: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  /** A zod object. Rejects unknown arguments; use `z.looseObject` to accept them. */
  readonly input: Input;
  readonly effect: Effect;
  readonly scope?: "local" | "sandbox";
  readonly destructive?: boolean;
  /** Destroys only what its caller owns and named: needs no approval unless a rule says so. */
  readonly unasked?: boolean;
  readonly sendsOut?: boolean;
  /** Results contain text written by others and are marked as untrusted. */
  readonly bringsIn?: boolean;
  /** For a read: returns the address that it requests. */
  readonly reaches?: (input: z.output<Input>) => string | undefined;
  /** For a tool that runs code: the hosts that the code can reach. */
  readonly hosts?: readonly string[];
  /** Its results are public, such as the time or a web page. */
  readonly isPublic?: boolean;
  /** Why it can't be used on this server, and what to do. */
  readonly unavailable?: string;
  /** Runs unreviewed code in the sandbox. */
  readonly runsCode?: boolean;
  readonly permissions?: readonly string[];
  /** System that grants these permissions; default: this server. */
  readonly rights?: string;
  readonly idempotent?: boolean;
  /** For a read: `false` disables retries after a connection error, 429 or 5xx. */
  readonly retry?: false;
  /** For a write: within a run, the same arguments mean the same thing, which is done once. */
  readonly sameIntent?: boolean;
  /** In milliseconds; default 60,000, at most 24 hours. */
  readonly timeoutMs?: number;
  /** For a write: returns why it can't be done, using reads only. An error it throws counts as a reason. */
  readonly check?: (
    input: z.output<Input>,
    context: ToolContext,
    planned: readonly PlannedWrite[],
  ) => Promise<string | undefined>;
  readonly reconcile?: (input: z.output<Input>, context: ToolContext) => Promise<ToolResult | "not-done" | undefined>;
  /**
   * Does the work and returns text, a JSON value or a ToolResult, or a promise of one. In a read, an error becomes an error
   * result. In a write to another system it makes the outcome unknown, unless it is NothingDone.
   */
  readonly execute: (input: z.output<Input>, context: ToolContext) => unknown;
};

const namePattern = /^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/;
export const defaultTimeoutMs = 60_000;
const maximumTimeoutMs = 24 * 60 * 60_000;

/**
 * Creates a tool and its JSON Schema. Throws InvalidInput (`invalid_tool`) with all problems of the definition.
 *
 * @example
 * const now = defineTool({
 *   name: "now",
 *   description: "Returns the current time.",
 *   input: z.object({}),
 *   effect: "read",
 *   execute: () => new Date().toISOString(),
 * });
 */
export function defineTool<Input extends z.ZodType>(definition: ToolDefinition<Input>): Tool {
  const problems = problemsOf(definition);
  if (problems.length > 0) throw invalidTool(definition.name, problems.join("; "));
  const { execute, reconcile, check, reaches, unavailable } = definition;
  const input = refuseUnknownKeys(definition.input);
  return {
    name: definition.name,
    description: definition.description.trim(),
    input,
    parameters: parametersOf(definition.name, input),
    effect: definition.effect,
    scope: definition.scope ?? "remote",
    destructive: definition.destructive ?? false,
    ...(definition.unasked ? { unasked: true } : {}),
    sendsOut: definition.sendsOut ?? false,
    ...(definition.bringsIn ? { bringsIn: true } : {}),
    ...(definition.hosts?.length ? { hosts: definition.hosts } : {}),
    ...(definition.isPublic ? { isPublic: true } : {}),
    ...(unavailable === undefined ? {} : { unavailable }),
    ...(definition.runsCode ? { runsCode: true } : {}),
    permissions: definition.permissions ?? [],
    ...(definition.rights === undefined ? {} : { rights: definition.rights }),
    idempotent: definition.idempotent ?? false,
    ...(definition.retry === false ? { retry: false as const } : {}),
    ...(definition.sameIntent ? { sameIntent: true } : {}),
    timeoutMs: definition.timeoutMs ?? defaultTimeoutMs,
    source: "built-in",
    // The casts are safe: callers pass what the tool's own `input` has parsed.
    ...(check && { check: (value, context, planned) => check(value as z.output<Input>, context, planned) }),
    ...(reaches && { reaches: (value) => reaches(value as z.output<Input>) }),
    ...(reconcile && { reconcile: (value, context) => reconcile(value as z.output<Input>, context) }),
    execute: async (value, context) => toldResult(definition.effect, await execute(value as z.output<Input>, context)),
  };
}

/** Converts a result. A write that returned has done its work, even if its result can't be shown. */
function toldResult(effect: Effect, value: unknown): ToolResult {
  if (effect === "read") return toToolResult(value);
  try {
    return toToolResult(value);
  } catch (error) {
    return { content: `Done, but the result can't be shown: ${messageOf(error)}` };
  }
}

/** Lists the problems of a definition. Repeats the type checks, since users' tools may be plain JavaScript. */
function problemsOf(definition: ToolDefinition<z.ZodType>): string[] {
  const { name, description, input, effect, scope, timeoutMs, execute } = definition;
  const problems: string[] = [];
  if (typeof name !== "string" || !namePattern.test(name)) {
    problems.push("its name must be a letter followed by at most 63 letters, digits, _ . or -");
  }
  if (typeof description !== "string" || description.trim() === "") problems.push("it needs a description");
  if (!(input instanceof z.ZodType)) problems.push("its input must be a zod object");
  if (effect !== "read" && effect !== "write") problems.push("its effect must be 'read' or 'write'");
  if (scope !== undefined && scope !== "local" && scope !== "sandbox") {
    problems.push("its scope must be 'local', 'sandbox' or absent");
  }
  if (typeof execute !== "function") problems.push("it needs an execute function");
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= maximumTimeoutMs)) {
    problems.push("its timeoutMs must be above 0 and at most 24 hours");
  }
  if (definition.sameIntent && effect !== "write") problems.push("sameIntent is of writes only");
  if (definition.runsCode && scope !== "sandbox") problems.push("a tool that runs code must have the scope 'sandbox'");
  if (scope === "local") problems.push(...problemsOfLocal(definition));
  return problems;
}

function problemsOfLocal({ sendsOut, idempotent, reconcile }: ToolDefinition<z.ZodType>): string[] {
  const problems: string[] = [];
  if (sendsOut) problems.push("a local tool works on our own tables only and can't send anything out");
  if (idempotent || reconcile) {
    problems.push("a local tool is done exactly once by its transaction: leave out idempotent and reconcile");
  }
  return problems;
}

/** Rejects unknown keys: if they were dropped silently, the model would believe that they had an effect. */
function refuseUnknownKeys(input: z.ZodType): z.ZodType {
  return input instanceof z.ZodObject && input.def.catchall === undefined ? input.strict() : input;
}

function parametersOf(name: string, input: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = draftOf(name, input);
  // Providers accept only an object at the root.
  if (schema["type"] !== "object") throw invalidTool(name, "its input must be a zod object");
  return schema;
}

function draftOf(name: string, input: z.ZodType): JsonSchema {
  try {
    return z.toJSONSchema(input, { io: "input", override: ({ jsonSchema }) => tidy(jsonSchema) });
  } catch (error) {
    throw invalidTool(name, `its input can't be written as a JSON Schema: ${messageOf(error)}`, error);
  }
}

function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.type === "object" && schema.properties) schema.additionalProperties ??= false;
  // These bounds only repeat JavaScript's number range and would cost tokens in every request.
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

function invalidTool(name: unknown, problem: string, cause?: unknown): InvalidInput {
  return new InvalidInput(`The tool ${JSON.stringify(name)} is not valid: ${problem}.`, {
    code: "invalid_tool",
    cause,
  });
}
