import type { PlanBody } from "../../protocol/threads/items.ts";

export type Steps = PlanBody["steps"];

/** Makes steps of texts. Those beyond the maximum stay in the plan too, so that the answer can say they were not done. */
export function asSteps(texts: readonly string[], room: number): Steps {
  return texts.map((text, at) => ({ text, state: at < room ? "open" : "skipped" }));
}

/** Replaces open steps by new ones; if there are none, they are skipped. Finished and failed steps stay. */
export function withNewSteps(steps: Steps, texts: readonly string[], maxSteps: number): Steps {
  if (texts.length === 0) return withoutOpen(steps);
  return [...steps.filter(({ state }) => state !== "open"), ...asSteps(texts, roomIn(steps, maxSteps))];
}

export function withoutOpen(steps: Steps): Steps {
  return steps.map((step) => (step.state === "open" ? { ...step, state: "skipped" } : step));
}

export function withNextRunning(steps: Steps): Steps {
  const next = steps.findIndex(({ state }) => state === "open");
  return steps.map((step, at) => (at === next ? { ...step, state: "running" } : step));
}

/** How many steps may still be worked on. */
export function roomIn(steps: Steps, maxSteps: number): number {
  const worked = steps.filter(({ state }) => state === "done" || state === "failed" || state === "running");
  return maxSteps - worked.length;
}

export function failuresIn(steps: Steps = []): number {
  return steps.filter(({ state }) => state === "failed").length;
}

/** `{plan}` of the prompts. */
export function planText(steps: Steps): string {
  return steps.map(({ text, state }, at) => `${at + 1}. [${state}] ${text}`).join("\n") || "(no steps)";
}
