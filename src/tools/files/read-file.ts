import { z } from "zod";
import { mediaTypeOf } from "../../protocol/threads/files.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { shownPath } from "../../sandbox/workspace/path.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { fileTool } from "./define-file-tool.ts";
import { textIn } from "./file-text.ts";
import { errorResult } from "../core/tool-result.ts";

/** Of a larger file only the beginning is read. */
const maxBytes = 8 * 1024 * 1024;
/** Of one result; far below what would push the conversation out of the context. */
const maxCharacters = 50_000;

export function readFileTool(workspaces: Pick<Workspaces, "open">): Tool {
  return fileTool(workspaces, {
    name: "read_file",
    description:
      "Reads a text file of the workspace. Of a long one it shows the beginning and says how to go on; give offset and " +
      "limit for a part of it.",
    input: z.object({
      path: z.string().min(1).describe("Relative to the workspace, such as notes/plan.md"),
      offset: z.int().min(1).optional().describe("The first line to show; 1 is the first of the file"),
      limit: z.int().min(1).optional().describe("How many lines"),
    }),
    effect: "read",
    async execute({ path, offset = 1, limit = Infinity }, workspace) {
      const { content, bytes } = await workspace.read(path, { maxBytes });
      const text = textIn(content);
      if (text === undefined) return errorResult(`ERROR(read_file): ${notText(path, bytes)}`);
      const cut = bytes > content.length ? beyond(content.length) : "";
      if (text === "") return `[${shownPath(path)} is empty.]`;
      const { part, note } = partOf(text, { offset, limit });
      return [part, note, cut].filter((piece) => piece !== "").join("\n");
    },
  });
}

/** Whole lines from `offset` on, as many as are asked for and fit. */
function partOf(text: string, { offset, limit }: { readonly offset: number; readonly limit: number }) {
  const lines = text.split("\n");
  // What ends with a newline has no further line after it.
  if (lines.at(-1) === "") lines.pop();
  if (offset > lines.length)
    return { part: "", note: `[Line ${offset} does not exist: the file has ${lines.length} lines.]` };
  const wanted = lines.slice(offset - 1, Math.min(lines.length, offset - 1 + limit));
  let [shown, characters] = [0, 0];
  while (shown < wanted.length && characters + wanted[shown]!.length < maxCharacters)
    characters += wanted[shown++]!.length + 1;
  if (shown === 0) {
    const line = `Line ${offset} has ${wanted[0]!.length} characters; only its beginning is shown.`;
    const next = offset < lines.length ? ` Line ${offset + 1} is next.` : "";
    return { part: wanted[0]!.slice(0, maxCharacters), note: `[${line}${next}]` };
  }
  const last = offset - 1 + shown;
  const isAll = shown === lines.length;
  const more = last < lines.length ? ` Continue with offset ${last + 1}.` : "";
  return {
    part: isAll ? text : wanted.slice(0, shown).join("\n"),
    note: isAll ? "" : `[Lines ${offset} to ${last} of ${lines.length}.${more}]`,
  };
}

function notText(path: string, bytes: number): string {
  const type = mediaTypeOf(path);
  const kind = type === undefined ? "a binary file" : `a file of the type ${type}`;
  const advice = type?.startsWith("image/")
    ? "People are shown it beside the answer; to work with what is in it, use code."
    : "To work with what is in it, use code.";
  return `${shownPath(path)} is ${kind} (${bytes} bytes), not text. ${advice}`;
}

function beyond(bytes: number): string {
  return `[The file is larger than the ${bytes} bytes that this tool reads; for what comes after them use search_files or code.]`;
}
