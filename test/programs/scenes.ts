import type { Cell, Target } from "../clients/proven.ts";

/** What a program is asked to do, and what happens to it meanwhile. */
export type Scene = { readonly target: Target; readonly does: "command" | "talk" | "approval" | "kill" };

/** What became of it. */
export type Told = Scene & {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  /** How often its command ran. */
  readonly made: number;
  /** Tasks that the agent's own tool has added. */
  readonly tasks: number;
  /** How often the model was asked for the last answer. */
  readonly finals: number;
  /** Runs that were at work when the server was killed. */
  readonly killed: number;
  /** Headers of its requests. */
  readonly asked: readonly Readonly<Record<string, string>>[];
};

/** The scene that shows this. A room's agents have no tools of the program, so there it talks. */
export function sceneOf({ feature, target }: Cell): Scene {
  if (feature === "approval") return { target, does: "approval" };
  if (feature === "resume") return { target, does: "kill" };
  return { target, does: target === "room" ? "talk" : "command" };
}
