import { z } from "zod";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";
import type { Effect, PlannedWrite, Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { toToolResult } from "./tool-result.ts";

/** What the author of a tool writes. Absent flags are false; `scope` absent means that it works somewhere else. */
export type ToolDefinition<Input extends z.ZodType> = {
  readonly name: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  /** A zod object. Unknown arguments are refused unless it says otherwise. */
  readonly input: Input;
  readonly effect: Effect;
  readonly scope?: "local" | "sandbox";
  readonly destructive?: boolean;
  /** Destructive, but only of what its caller has named of their own: nobody is asked, unless a rule says so. */
  readonly unasked?: boolean;
  readonly sendsOut?: boolean;
  /** Its results hold text that others wrote; they are marked as untrusted. */
  readonly bringsIn?: boolean;
  /** Of a read: the address that it asks. */
  readonly reaches?: (input: z.output<Input>) => string | undefined;
  /** Of what runs code: the hosts that the code reaches. */
  readonly hosts?: readonly string[];
  /** What it gives anybody could know, such as the time or a page of the web. */
  readonly isPublic?: boolean;
  /** Why it can't be used on this server, and what to do. */
  readonly unavailable?: string;
  /** Runs code that nobody has read, in the sandbox. */
  readonly runsCode?: boolean;
  readonly permissions?: readonly string[];
  /** The system whose rights these are; absent: this server's. */
  readonly rights?: string;
  readonly idempotent?: boolean;
  /** Of a read: it is not tried again when its server was not well. */
  readonly retry?: false;
  /** Of a write: within a run the same arguments mean the same thing. Called again, it is not done again. */
  readonly sameIntent?: boolean;
  /** Default 60 s. */
  readonly timeoutMs?: number;
  /** Of a write: why it can't be done, if that can be told by looking. What it throws is a reason too. */
  readonly check?: (
    input: z.output<Input>,
    context: ToolContext,
    planned: readonly PlannedWrite[],
  ) => Promise<string | undefined>;
  readonly reconcile?: (input: z.output<Input>, context: ToolContext) => Promise<ToolResult | "not-done" | undefined>;
  /**
   * Returns text, a JSON value or a ToolResult, or a promise of one. What it throws becomes an error result; of a write
   * elsewhere it is then unknown whether it was done, unless it throws NothingDone.
   */
  readonly execute: (input: z.output<Input>, context: ToolContext) => unknown;
};

const namePattern = /^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/;
export const defaultTimeoutMs = 60_000;
const maximumTimeoutMs = 24 * 60 * 60_000;

/** Makes a tool, with its JSON Schema. Throws InvalidInput (`invalid_tool`) that lists all that is wrong with it. */
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
    // The casts hold because whoever calls a tool gives it what its own `input` parsed.
    ...(check && { check: (value, context, planned) => check(value as z.output<Input>, context, planned) }),
    ...(reaches && { reaches: (value) => reaches(value as z.output<Input>) }),
    ...(reconcile && { reconcile: (value, context) => reconcile(value as z.output<Input>, context) }),
    execute: async (value, context) => toldResult(definition.effect, await execute(value as z.output<Input>, context)),
  };
}

/** A write that gave something back has done its work, whether or not that can be told. */
function toldResult(effect: Effect, value: unknown): ToolResult {
  if (effect === "read") return toToolResult(value);
  try {
    return toToolResult(value);
  } catch (error) {
    return { content: `Done, but the result can't be shown: ${messageOf(error)}` };
  }
}

/** Checks what types can't, and what they would if a user's tool weren't plain JavaScript. */
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

/** A made-up argument that is silently dropped would leave the model believing that it counted. */
function refuseUnknownKeys(input: z.ZodType): z.ZodType {
  return input instanceof z.ZodObject && input.def.catchall === undefined ? input.strict() : input;
}

function parametersOf(name: string, input: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = draftOf(name, input);
  // Providers take nothing but an object at the root.
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
  // Only says that JSON numbers are JavaScript numbers, for tokens in every request.
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

function invalidTool(name: unknown, problem: string, cause?: unknown): InvalidInput {
  return new InvalidInput(`The tool ${JSON.stringify(name)} is not valid: ${problem}.`, {
    code: "invalid_tool",
    cause,
  });
}
