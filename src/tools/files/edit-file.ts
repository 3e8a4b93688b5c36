import { z } from "zod";
import type { Tool } from "../../protocol/agents/tools.ts";
import { shownPath } from "../../sandbox/workspace/path.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { exactTextIn } from "./file-text.ts";
import { fileTool } from "./define-file-tool.ts";
import { errorResult } from "../core/tool-result.ts";

/** Larger files must be edited with code. */
const maxBytes = 8 * 1024 * 1024;
const maxPlaces = 10;
/** How many lines of old_text are searched for one by one. */
const maxSought = 20;
const shownCharacters = 200;

export function editFileTool(workspaces: Pick<Workspaces, "open">): Tool {
  return fileTool(workspaces, {
    name: "edit_file",
    description:
      "Replaces a text in a file of the workspace by another. old_text must match the file exactly, with the " +
      "same spaces and line breaks, and only once: include enough surrounding lines. An empty new_text removes it.",
    input: z.object({
      path: z.string().min(1).describe("Relative to the workspace"),
      old_text: z.string().min(1).describe("The text to replace"),
      new_text: z.string().describe("The new text"),
      replace_all: z.boolean().default(false).describe("true: everywhere, not only once"),
    }),
    effect: "write",
    async execute({ path, old_text, new_text, replace_all }, workspace, { signal }) {
      const failed = (reason: string) => errorResult(`ERROR(edit_file): ${reason}`);
      const { content, bytes, version } = await workspace.read(path, { maxBytes });
      if (bytes > maxBytes) return failed(`${shownPath(path)} has ${bytes} bytes; change it by code.`);
      const text = exactTextIn(content);
      if (text === undefined) return failed(`${shownPath(path)} is not UTF-8 text; change it by code.`);
      if (old_text === new_text) return failed("old_text and new_text are the same.");
      const [before, after] = inItsLines(text, [old_text, new_text]);
      const places = placesOf(text, before);
      if (places.length === 0) return failed(`old_text is not in ${shownPath(path)}. ${nearest(text, before)}`);
      if (places.length > 1 && !replace_all) {
        const lines = places.slice(0, maxPlaces).map((place) => lineAt(text, place));
        const more = places.length > maxPlaces ? ", …" : "";
        return failed(
          `old_text is in ${shownPath(path)} ${places.length} times (lines ${lines.join(", ")}${more}): include more surrounding lines of the one you mean, or set replace_all.`,
        );
      }
      const changed = text.replaceAll(before, () => after);
      const written = await workspace.write(path, changed, { ifVersion: version, signal });
      const where = places.length === 1 ? `in line ${lineAt(text, places[0]!)}` : `in ${places.length} places`;
      return { content: `OK: Replaced text in ${shownPath(path)}, ${where}`, data: { files: [written] } };
    },
  });
}

/** Converts line ends: models write \n, and a file whose lines end with \r\n keeps that. */
function inItsLines(text: string, [before, after]: readonly [string, string]): [string, string] {
  if (text.includes(before) || before.includes("\r") || !text.includes("\r\n")) return [before, after];
  return [before.replaceAll("\n", "\r\n"), after.replaceAll(/\r?\n/g, "\r\n")];
}

/** Positions of a text in another, without overlaps. */
function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function lineAt(text: string, place: number): number {
  return placesOf(text.slice(0, place), "\n").length + 1;
}

/** A hint: the passage that differs only in whitespace, or a line that contains one of the wanted lines. */
function nearest(text: string, wanted: string): string {
  const lines = text.split("\n");
  const sought = wanted.split("\n").filter((line) => line.trim() !== "");
  const bare = (line: string) => line.replaceAll(/\s+/g, "");
  const same = lines.findIndex((_, at) => sought.every((line, index) => bare(lines[at + index] ?? "") === bare(line)));
  if (sought.length > 0 && same !== -1) {
    const found = lines.slice(same, same + sought.length).join("\n");
    return `Line ${same + 1} differs only in its spaces; it is: ${quoted(found)}`;
  }
  for (const part of sought.slice(0, maxSought).map((line) => line.trim())) {
    const holding = part.length > 3 ? lines.findIndex((line) => line.includes(part)) : -1;
    if (holding !== -1) return `Line ${holding + 1} is ${quoted(lines[holding]!)}; read what follows.`;
  }
  return "Read the file to see what is in it.";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text);
}
