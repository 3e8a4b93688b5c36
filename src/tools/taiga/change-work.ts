import { isDeepStrictEqual } from "node:util";
import type { ProjectSession } from "./access.ts";
import { TaigaFailure } from "./failure.ts";
import type { WireFields } from "./fields.ts";
import type { WorkPath } from "./markers.ts";
import { parsed, type WireWork, workSchema } from "./shapes.ts";

const maxTries = 3;

export type WorkLocation = { readonly path: WorkPath; readonly id: number; readonly signal: AbortSignal };

/** Throws TaigaFailure for what is another project's, too: a run works in one. */
export async function readWork(desk: ProjectSession, { path, id, signal }: WorkLocation): Promise<WireWork> {
  const work = parsed(workSchema, await desk.ask({ path: `${path}/${id}`, signal }), "story or task");
  if (work.project === desk.project.id) return work;
  throw new TaigaFailure(404, `${path === "/tasks" ? "Task" : "User story"} ${id} is not in this project.`);
}

/**
 * Changes fields under Taiga's optimistic locking. It takes an old version as long as nobody has changed the same fields
 * since; if somebody has, it is read anew, and done only if these fields are still what they were.
 */
export async function changeWork(
  desk: ProjectSession,
  place: WorkLocation,
  fieldsFor: (work: WireWork) => WireFields,
): Promise<WireWork> {
  const { path, id, signal } = place;
  const first = await readWork(desk, place);
  let now = first;
  for (let tries = 1; ; tries++) {
    const fields = fieldsFor(now);
    try {
      const body = { ...fields, version: now.version };
      return parsed(
        workSchema,
        await desk.ask({ method: "PATCH", path: `${path}/${id}`, body, signal }),
        "story or task",
        { inDoubt: true },
      );
    } catch (error) {
      if (!(error instanceof TaigaFailure) || !error.isConflict) throw error;
      now = await readWork(desk, place);
      if (hasFields(now, fields)) return now;
      const changed = changedFields(first, now, fields);
      if (changed.length > 0 || tries === maxTries) throw conflict(now, changed);
    }
  }
}

/** Whether a story or task has all of these already. */
export function hasFields(work: WireWork, fields: WireFields): boolean {
  return Object.entries(fields).every(([field, wanted]) => isDeepStrictEqual(valueOf(work, field), wanted));
}

function changedFields(before: WireWork, after: WireWork, fields: WireFields): readonly string[] {
  return Object.keys(fields).filter((field) => !isDeepStrictEqual(valueOf(before, field), valueOf(after, field)));
}

function valueOf(work: WireWork, field: string): unknown {
  return field === "tags" ? (work.tags ?? []).map(([tag]) => tag) : (work[field] ?? null);
}

function conflict(now: WireWork, changed: readonly string[]): TaigaFailure {
  const values = changed.map((field) => `${field} is now ${JSON.stringify(valueOf(now, field)).slice(0, 300)}`);
  return new TaigaFailure(
    400,
    `Somebody else changed #${now.ref} at the same time, and nothing was done${values.length > 0 ? `: ${values.join("; ")}` : "."} ` +
      "Look whether your change is still right before you try it again.",
  );
}
