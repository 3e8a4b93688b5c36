import { InvalidInput } from "../../protocol/base/errors.ts";
import { workspaceTarget } from "../sandbox.ts";

const longestPath = 4096;
/** In bytes, of one name; what file systems take. */
const longestName = 255;

/**
 * The names on the way to a file, from a path as people, models and commands write it: `notes/a.txt`, `./notes/a.txt`,
 * `/workspace/notes/a.txt`. The workspace itself has none. Throws InvalidInput for whatever is not below it.
 */
export function parsePath(path: string): readonly string[] {
  const shown = shownPath(path);
  if (path.length > longestPath) throw refused(`A path has at most ${longestPath} characters.`);
  if (path.includes("\0")) throw refused(`${shown} is not a path.`);
  const inside = path.startsWith("/") ? belowTarget(path) : path;
  if (inside === undefined) throw refused(`${shown} is outside the workspace; write paths relative to it.`);
  const names: string[] = [];
  for (const name of inside.split("/")) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (names.pop() === undefined) throw refused(`${shown} is outside the workspace.`);
      continue;
    }
    if (Buffer.byteLength(name) > longestName) throw refused(`A name in ${shown} is longer than ${longestName} bytes.`);
    names.push(name);
  }
  return names;
}

/** Any path on one line, as people and models can read it: a name may hold newlines and worse. */
export function shownPath(path: string): string {
  const short = path.length > 300 ? `${path.slice(0, 300)}…` : path;
  return /[\p{Cc}\p{Zl}\p{Zp}"]/u.test(short) ? JSON.stringify(short) : short === "" ? "the workspace" : short;
}

function belowTarget(path: string): string | undefined {
  if (path === workspaceTarget) return "";
  return path.startsWith(`${workspaceTarget}/`) ? path.slice(workspaceTarget.length) : undefined;
}

function refused(message: string): InvalidInput {
  return new InvalidInput(message, { code: "file_path_invalid", param: "path" });
}
