import { z } from "zod";
import { isExactNumber, toDoubles } from "../../protocol/base/exact-json.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import type { PlannedWrite, Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { readArguments } from "../../tools/core/call-tool.ts";
import { errorResult } from "../../tools/core/tool-result.ts";
import type { CallItem } from "../log/call-items.ts";
import { namesIn } from "./chosen-writes.ts";
import { callKey } from "../log/fold.ts";

const doing = "do:";
const asking = "plan:";

/** The step at which a person is asked; a plan that has grown since, because a person said more, is another question. */
export function questionOf(writes: readonly PlannedWrite[]): string {
  return `${asking}${writes.length}`;
}

/** Whether this is a dry run's question about its plan. */
export function asksAboutPlan({ options }: RunDefinition, { step, body }: ItemOf<"question">): boolean {
  return options.dryRun === true && body.reason === "question" && step?.startsWith(asking) === true;
}

/** The step at which a planned write is done. */
export function stepOf({ id }: PlannedWrite): string {
  return doing + id;
}

/** Whether the call belongs to a dry run's plan that a person has allowed. */
export function isAllowedByPlan({ options }: RunDefinition, call: CallItem): boolean {
  return options.dryRun === true && call.step?.startsWith(doing) === true;
}

/** The write is not done now: it goes into the plan. */
export function isOnlyPlanned(definition: RunDefinition, call: CallItem, tool: Tool): boolean {
  return definition.options.dryRun === true && tool.effect === "write" && !isAllowedByPlan(definition, call);
}

/** Result for a write that goes into the plan; later writes may refer to what it will create. */
export function planCall(items: readonly Item[], call: CallItem, isWrite: (tool: string) => boolean): ToolResult {
  const given = argumentsOf(call);
  const known = new Set(plannedWrites(items).map(({ id }) => id));
  const strange = namesIn(given).filter((name) => !known.has(name));
  if (strange.length > 0) return errorResult(`No planned write is called ${strange.join(", ")}.`);
  const calls = items.filter((item) => item.kind === "call" && isWrite(item.body.name));
  const id = `new:${calls.findIndex(({ id: each }) => each === call.id) + 1}`;
  const planned: PlannedWrite = {
    id,
    tool: call.body.name,
    arguments: toDoubles(given) as PlannedWrite["arguments"],
  };
  return { content: JSON.stringify({ planned: true, id }), data: { planned } };
}

/** In the order in which they were asked for. */
export function plannedWrites(items: readonly Item[]): readonly PlannedWrite[] {
  const results = new Map(items.flatMap((item) => (item.kind === "result" ? [[callKey(item), item] as const] : [])));
  return items.flatMap((item) => {
    if (item.kind !== "call") return [];
    const { planned } = planSchema.safeParse(results.get(callKey(item))?.body.data).data ?? {};
    // Tools say what they like in their results, but no call becomes one of another tool.
    return planned?.tool === item.body.name ? [{ ...planned, arguments: argumentsOf(item) }] : [];
  });
}

/** As the model wrote them: the result's copy is only to be shown. */
function argumentsOf({ body }: Pick<CallItem, "body">): PlannedWrite["arguments"] {
  return readArguments(body.arguments) as PlannedWrite["arguments"];
}

const planSchema = z.object({
  planned: z.object({ id: z.string(), tool: z.string(), arguments: z.record(z.string(), z.unknown()) }),
});

/** The arguments with the ids of what was made in place of those that stood for it. */
export function resolveCreatedIds(
  given: PlannedWrite["arguments"],
  made: ReadonlyMap<string, unknown>,
): PlannedWrite["arguments"] {
  const real = (value: unknown): unknown => {
    if (typeof value === "string") return made.get(value) ?? value;
    if (Array.isArray(value)) return value.map(real);
    if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, real(inner)]));
  };
  return real(given) as PlannedWrite["arguments"];
}

/** Returns the ID of what a write created, from its result. */
export function createdId({ body }: Pick<ItemOf<"result">, "body">): unknown {
  const { data } = body;
  return typeof data === "object" && data !== null && "id" in data ? data.id : undefined;
}
