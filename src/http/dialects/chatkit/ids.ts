import { NotFound } from "../../../protocol/base/errors.ts";
import { isId } from "../../../protocol/base/ids.ts";

/** The kinds of ids that clients of this dialect know: of messages, client tool calls, workflows, tasks, structured inputs and attachments. */
export type ItemPrefix = "msg" | "tc" | "wf" | "tsk" | "sti" | "atc";

export function shownThreadId(id: string): string {
  return "thr_" + compact(id);
}

/** The thread behind an id of this dialect; a native one will do too. Throws NotFound for what can't be one. */
export function threadIdFrom(shown: string): string {
  const id = shown.startsWith("thr_") ? spread(shown.slice(4)) : shown.toLowerCase();
  if (!isId(id)) throw new NotFound(`Thread ${shown.slice(0, 100)} not found.`, { code: "thread_not_found" });
  return id;
}

export function shownItemId(prefix: ItemPrefix, id: string): string {
  return `${prefix}_${compact(id)}`;
}

/** What a step says is told before it is an item, so its id comes of the run and the step. */
export function shownStepId(
  prefix: ItemPrefix,
  { run, step }: { readonly run: string; readonly step: string },
): string {
  return `${prefix}_${compact(run)}_${encodeURIComponent(step)}`;
}

/** The item behind an id that was made of its own; undefined for others. */
export function itemIdFrom(shown: string): string | undefined {
  const id = spread(shown.slice(shown.indexOf("_") + 1));
  return isId(id) ? id : undefined;
}

function compact(id: string): string {
  return id.replaceAll("-", "");
}

function spread(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5").toLowerCase();
}
