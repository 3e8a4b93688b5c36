import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ProgramName } from "./programs.ts";
import type { Scene, Told } from "./scenes.ts";

/** The loopback alone, where this machine lets bubblewrap make it; elsewhere the programs' settings keep them here. */
const walls = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
const canWall = () => spawnSync(walls[0]!, [...walls.slice(1), "true"]).status === 0;

/** Plays the scenes in a world of their own; what became of them, in their order. */
export async function enterWorld(
  { name, path }: { readonly name: ProgramName; readonly path: string },
  scenes: readonly Scene[],
): Promise<readonly Told[]> {
  const world = [process.execPath, "--disable-warning=ExperimentalWarning", join(import.meta.dirname, "world.ts")];
  const [command, ...args] = [...(canWall() ? walls : []), ...world, JSON.stringify({ name, path, scenes })];
  const child = spawn(command!, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [told, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`The world of ${name} ended with ${code as number}. It told:\n${told}`);
  return told.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Told] : []));
}
