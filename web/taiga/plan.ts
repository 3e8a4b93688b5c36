import type { PlannedWrite } from "../../src/protocol/agents/tools.ts";

/** What a person did to a plan: what is left out, and what stands in place of subject and description. */
export type PlanEdits = {
  readonly leftOut: readonly string[];
  readonly texts: Readonly<Record<string, { readonly subject?: string; readonly description?: string }>>;
};
export const noEdits: PlanEdits = { leftOut: [], texts: {} };

export type Story = { readonly write: PlannedWrite; readonly tasks: readonly PlannedWrite[] };
/** New stories with their new tasks beneath; what belongs to none of them stands by itself. */
export type Outline = { readonly stories: readonly Story[]; readonly others: readonly PlannedWrite[] };

export function outlineOf(writes: readonly PlannedWrite[]): Outline {
  const isStory = ({ tool }: PlannedWrite) => tool === "taiga_create_user_story";
  const stories = writes.filter(isStory).map((write) => ({
    write,
    tasks: writes.filter(
      ({ tool, arguments: given }) => tool === "taiga_create_task" && given["user_story_id"] === write.id,
    ),
  }));
  const placed = new Set(stories.flatMap(({ write, tasks }) => [write.id, ...tasks.map(({ id }) => id)]));
  return { stories, others: writes.filter(({ id }) => !placed.has(id)) };
}

export function argumentText({ arguments: given }: PlannedWrite, field: "subject" | "description"): string {
  const text = given[field];
  return typeof text === "string" ? text : "";
}

/** The plan as it is after the edits. What needs something that is left out is left out too. */
export function applyEdits(writes: readonly PlannedWrite[], { leftOut, texts }: PlanEdits): readonly PlannedWrite[] {
  const kept: PlannedWrite[] = [];
  const out = new Set(leftOut);
  for (const write of writes) {
    const needs = JSON.stringify(write.arguments).match(/"new:\d+"/g) ?? [];
    if (out.has(write.id) || needs.some((name) => out.has(name.slice(1, -1)))) {
      out.add(write.id);
      continue;
    }
    const own = Object.entries(texts[write.id] ?? {}).filter(
      // An empty description that was none before stays none.
      ([field, text]) => text !== "" || write.arguments[field] !== undefined,
    );
    kept.push(own.length === 0 ? write : { ...write, arguments: { ...write.arguments, ...Object.fromEntries(own) } });
  }
  return kept;
}

/** For the decision; undefined: the plan as it is. */
export function choiceOf(writes: readonly PlannedWrite[], edits: PlanEdits): string | undefined {
  const chosen = applyEdits(writes, edits);
  const isWhole = chosen.length === writes.length && chosen.every((write, at) => write === writes[at]);
  if (isWhole) return undefined;
  return JSON.stringify({ writes: chosen.map(({ id, arguments: given }) => ({ id, arguments: given })) });
}

/** What a decision has chosen. */
export function choiceFromPlan(writes: readonly PlannedWrite[], choice: string | undefined): readonly PlannedWrite[] {
  if (choice === undefined) return writes;
  const { writes: chosen } = JSON.parse(choice) as { writes: readonly Pick<PlannedWrite, "id" | "arguments">[] };
  return writes.flatMap((write) => {
    const one = chosen.find(({ id }) => id === write.id);
    return one ? [{ ...write, arguments: one.arguments }] : [];
  });
}

/** `taiga_create_user_story` → create, user_story. */
export function verbOf({ tool }: PlannedWrite): {
  readonly verb: "create" | "update" | "delete";
  readonly kind: "user_story" | "task";
} {
  const [, verb = "create", kind = "task"] = /^taiga_([a-z]+)_([a-z_]+)$/.exec(tool) ?? [];
  return { verb, kind } as ReturnType<typeof verbOf>;
}
