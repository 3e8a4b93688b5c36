import { z } from "zod";
import {
  canonicalJson,
  inexactNumbers,
  isExactNumber,
  parseExactly,
  prototypeKeys,
  toDoubles,
} from "../../protocol/base/exact-json.ts";
import { ColloquyError, LostRun, messageOf } from "../../protocol/base/errors.ts";
import { faultText } from "../../protocol/base/schema-faults.ts";
import { similarNames } from "../../protocol/base/similar-names.ts";
import type { PlannedWrite, Query, Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { meansNothingDone } from "./nothing-done.ts";
import { trackRequests, withoutTracking } from "./track-requests.ts";
import { retryRead } from "./retry-read.ts";
import { boundFrom, errorResult } from "./tool-result.ts";

export const maximumArgumentBytes = 1_000_000;
const maximumDepth = 64;
const maxPathCharacters = 200;
const maxListedIssues = 10;
const maxListedNames = 30;
const schemaCharacters = 2_000;

export type ParsedCall =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly result: ToolResult };

/** Parses a call's arguments as the model wrote them. Never throws: problems are returned, for the model. */
export function parseCall(tool: Tool, argumentsText: string): ParsedCall {
  if (Buffer.byteLength(argumentsText) > maximumArgumentBytes) {
    return refused(`The arguments of ${tool.name} are larger than ${maximumArgumentBytes} bytes. Send less.`);
  }
  try {
    const given = readArguments(argumentsText);
    const taken = tool.keepsNumbers ? given : toDoubles(given);
    const changed = taken === given ? [] : inexactNumbers(given);
    if (changed.length > 0) return refused(describeChanged(tool, changed));
    const parsed = tool.input.safeParse(taken);
    if (!parsed.success) return refused(describeIssues(tool, parsed.error));
    // A schema that accepts any key silently drops `__proto__`.
    const keys = prototypeKeys(given);
    if (keys > 0 && keys > prototypeKeys(parsed.data))
      return refused(`${tool.name} takes no key "__proto__" in its arguments. Leave it out.${expectation(tool)}`);
    return { ok: true, input: parsed.data };
  } catch (error) {
    const reason = `The arguments of ${tool.name} can't be read: ${messageOf(error)}`;
    return refused(`${reason}\nSend one JSON object.${expectation(tool)}`);
  }
}

/** Formats arguments canonically: the same text whatever their spacing, order of keys and notation of numbers. Compares calls. */
export function normaliseArguments(argumentsText: string): string {
  try {
    return canonicalJson(readArguments(argumentsText));
  } catch {
    return argumentsText.trim();
  }
}

/** Error result for a call of a tool that doesn't exist, or not for this caller. */
export function unknownTool(name: string, tools: readonly Tool[]): ToolResult {
  const names = tools.map((tool) => tool.name);
  const near = similarNames(name, names);
  const hint =
    near.length > 0
      ? `Did you mean ${near.join(" or ")}?`
      : names.length > 0
        ? `Available: ${names.slice(0, maxListedNames).join(", ")}${names.length > maxListedNames ? ", …" : ""}.`
        : "You have no tools.";
  return errorResult(`Tool ${JSON.stringify(name.slice(0, 100))} not found. ${hint}`);
}

/**
 * Runs a tool on parsed input, within its timeout. An error of the tool becomes an error result. Throws only LostRun and the
 * reason of `context.signal`, soon after they happen, whether or not the tool stops. A write to another system that
 * threw or timed out is `uncertain`, unless it is clear that nothing was done.
 * A failed local tool is rolled back, and the transaction stays usable.
 */
export async function executeTool(tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult> {
  context.signal.throwIfAborted();
  const stop = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    ended.reject(reason);
    stop.abort(reason);
  };
  const cancel = (): void => end(context.signal.reason);
  context.signal.addEventListener("abort", cancel, { once: true });
  const expire = (): void => end(new Error(`${tool.name} took longer than ${tool.timeoutMs} ms.`));
  const timer = setTimeout(expire, tool.timeoutMs);
  const statements = tool.scope === "local" && tool.effect === "write" ? undoable(context.query) : undefined;
  const ownContext: ToolContext = {
    ...context,
    signal: stop.signal,
    query: statements?.query ?? context.query,
    step: (request, signal) =>
      withoutTracking(() => context.step(request, signal ? AbortSignal.any([stop.signal, signal]) : stop.signal)),
  };
  const sent = { hasSent: false };
  try {
    const once = async () => tool.execute(input, ownContext);
    const mayRepeat = tool.effect === "read" && tool.retry !== false;
    const execute = mayRepeat ? () => retryRead(once, stop.signal) : once;
    const work = isWriteElsewhere(tool) ? trackRequests(sent, execute) : execute();
    const result = await Promise.race([work, ended.promise]);
    if (result.isError || result.ask) await statements?.undo();
    return markExternal(tool, result);
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    if (error instanceof LostRun || isOfDatabase(error)) throw error;
    await statements?.undo();
    if (stop.signal.aborted) return timedOut(tool);
    const failed = markExternal(tool, errorResult(messageOf(error)));
    return isWriteElsewhere(tool) && !meansNothingDone(error, sent) ? { ...failed, uncertain: true } : failed;
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", cancel);
    statements?.close();
  }
}

/** Errors that say nothing about the tool: the run returns to the queue, and another process continues it. */
function isOfDatabase(error: unknown): boolean {
  return error instanceof ColloquyError && /^(database|transaction)_/.test(error.code);
}

/** Returns why a call can't be done, according to its tool's `check`. Same timeout and errors as `executeTool`. */
export async function checkCall(
  { tool, input }: { readonly tool: Tool; readonly input: unknown },
  context: ToolContext,
  planned: readonly PlannedWrite[],
): Promise<ToolResult | undefined> {
  const { check } = tool;
  if (!check) return undefined;
  const execute: Tool["execute"] = async (given, ownContext) => {
    const reason = await check(given, ownContext, planned);
    return reason === undefined ? { content: "" } : errorResult(reason);
  };
  const { isError, content } = await executeTool({ ...tool, effect: "read", execute }, input, context);
  return isError ? errorResult(content) : undefined;
}

/** Parses JSON that is nested no deeper than arguments may be, keeping numbers as written. Throws for anything else. */
export function readArguments(text: string): unknown {
  const value = text.trim() === "" ? {} : parseExactly(text);
  if (isDeeper(value, maximumDepth)) throw new RangeError(`They are nested more than ${maximumDepth} levels deep.`);
  // Some models write `null` for a tool without arguments.
  return value ?? {};
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

function refused(content: string): ParsedCall {
  return { ok: false, result: errorResult(content) };
}

function describeIssues(tool: Tool, error: z.ZodError): string {
  const lines = error.issues.slice(0, maxListedIssues).map((issue) => {
    const path = z.core.toDotPath(issue.path).slice(0, maxPathCharacters);
    return path === "" ? `- ${faultText(issue)}` : `- ${path}: ${faultText(issue)}`;
  });
  if (error.issues.length > maxListedIssues) lines.push(`- and ${error.issues.length - maxListedIssues} more`);
  return `The arguments of ${tool.name} are not valid:\n${lines.join("\n")}${expectation(tool)}`;
}

/** Rejects numbers that would be rounded: the result could be another object's number. */
function describeChanged(tool: Tool, changed: ReturnType<typeof inexactNumbers>): string {
  const lines = changed
    .slice(0, maxListedIssues)
    .map(({ path, written }) => `- ${path}: ${shown(written)} has more digits than ${tool.name} can keep`);
  const advice = "Send numbers of at most 15 digits; a longer one only where text is taken, in quotes.";
  return `The arguments of ${tool.name} are not valid:\n${lines.join("\n")}\n${advice}${expectation(tool)}`;
}

function shown(number: string): string {
  return number.length > 60 ? `${number.slice(0, 60)}…` : number;
}

function expectation(tool: Tool): string {
  const schema = JSON.stringify(tool.parameters);
  return schema.length <= schemaCharacters ? `\nExpected: ${schema}` : "";
}

/** Marks errors of tools with external results as external too, since the message may be. */
function markExternal<Result extends ToolResult>(tool: Tool, result: Result): Result {
  if (result.ask || !(tool.bringsIn || result.untrusted)) return result;
  return { ...result, untrusted: true, from: boundFrom(result.from ?? sourcesOf(tool, result)) };
}

/** Sources of a result's text, as far as known: sites, the server, the hosts of its code. */
function sourcesOf({ name, server, hosts = [] }: Tool, { sources = [] }: ToolResult): readonly string[] {
  if (server) return [`mcp:${server.name}`];
  const sites = sources.flatMap(({ url }) => (url === undefined ? [] : (URL.parse(url)?.host ?? [])));
  if (sites.length > 0) return sites;
  return hosts.length > 0 ? hosts : [name];
}

/** Whether only the other system knows if a call was done: our own tables roll back, and a sandbox is discarded. */
function isWriteElsewhere({ effect, scope }: Tool): boolean {
  return effect === "write" && scope === "remote";
}

function timedOut(tool: Tool): ToolResult {
  const limit = `${tool.name} did not finish within ${tool.timeoutMs / 1000} seconds and was stopped.`;
  // A local tool's statements were undone, so of it everything is known.
  const isWritten = tool.effect === "write" && tool.scope !== "local";
  const advice = isWritten ? " It may have taken effect all the same: look before you do it again." : "";
  return { ...errorResult(limit + advice), ...(isWriteElsewhere(tool) && { uncertain: true as const }) };
}

/** Runs a tool's statements in a savepoint, so that the transaction can continue after an error. */
function undoable(query: Query): { readonly query: Query; undo(): Promise<void>; close(): void } {
  let marked = false;
  let closed = false;
  const statement: Query = async <Row extends object>(text: string, values?: readonly unknown[]) => {
    if (!closed && !marked) {
      marked = true;
      await query("SAVEPOINT tool_call");
    }
    // A tool that ignores its time-out must not write after it.
    if (closed) throw new Error("The call has ended; its transaction takes no more statements.");
    return query<Row>(text, values);
  };
  const close = (): void => {
    closed = true;
  };
  const undo = async (): Promise<void> => {
    close();
    if (marked) await query("ROLLBACK TO SAVEPOINT tool_call");
  };
  return { query: statement, undo, close };
}
