import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { matchesGlob } from "../../protocol/base/glob.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { shownPath } from "../../sandbox/workspace/path.ts";
import type { Workspace } from "../../sandbox/workspace/workspace.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { textIn } from "./file-text.ts";
import { fileTool } from "./define-file-tool.ts";
import { type LineSearch, patternOf, startLineSearch } from "./search-lines.ts";

const maxFiles = 5_000;
/** Larger files, and all files beyond `maxBytes` in total, are reported but not searched. */
const maxBytesOfFile = 4 * 1024 * 1024;
const maxBytes = 64 * 1024 * 1024;
const maxMatches = 100;

export function searchFilesTool(workspaces: Pick<Workspaces, "open">, { maxMs = 10_000 } = {}): Tool {
  return fileTool(workspaces, {
    name: "search_files",
    description:
      "Searches the names and the lines of the files of the workspace for a text, or for a regular expression. Shows " +
      "path:line: text.",
    input: z.object({
      query: z.string().min(1).max(1000).describe("A text that a line or a name contains"),
      regex: z.boolean().default(false).describe("true: query is a regular expression (JavaScript)"),
      case_sensitive: z.boolean().default(false),
      path: z.string().default("").describe("A folder; empty: the whole workspace"),
      glob: z.string().default("*").describe("Only files whose path or name fits, such as *.py"),
    }),
    effect: "read",
    async execute({ query, regex, case_sensitive, path, glob }, workspace, { signal }) {
      const pattern = patternOf(query, { isRegex: regex, isExact: case_sensitive });
      const tooLong = AbortSignal.timeout(maxMs);
      const lines = startLineSearch(pattern, AbortSignal.any([signal, tooLong]));
      try {
        return await search(workspace, lines, { path, glob });
      } catch (error) {
        signal.throwIfAborted();
        if (tooLong.aborted)
          throw new InvalidInput(
            `The search took longer than ${maxMs / 1000} s: search one folder, or for something simpler.`,
          );
        throw error;
      } finally {
        await lines.close();
      }
    },
  });
}

type SearchTarget = { readonly path: string; readonly glob: string };

async function search(workspace: Workspace, lines: LineSearch, { path, glob }: SearchTarget): Promise<string> {
  const { entries, more } = await workspace.list({ under: path, most: maxFiles });
  const fits = (file: string) => matchesGlob(glob, file) || matchesGlob(glob, file.slice(file.lastIndexOf("/") + 1));
  const files = entries.filter((entry) => entry.kind === "file" && fits(entry.path));
  const names = await lines.find({ text: files.map((file) => file.path), most: maxMatches });
  const found = names.map(({ line }) => shownPath(files[line - 1]!.path));
  let [left, notSearched] = [maxBytes, 0];
  for (const file of files) {
    if (found.length >= maxMatches) break;
    if (file.bytes > Math.min(left, maxBytesOfFile)) notSearched += 1;
    else {
      left -= file.bytes;
      const text = await readSearchable(workspace, file.path);
      const matches = text === undefined ? [] : await lines.find({ text, most: maxMatches - found.length });
      found.push(...matches.map(({ line, text: shown }) => `${shownPath(file.path)}:${line}: ${shown}`));
    }
  }
  const notes = [
    found.length === 0 ? `No matches in ${files.length} files.` : "",
    found.length >= maxMatches ? `Only the first ${maxMatches} are shown.` : "",
    notSearched > 0 ? `${notSearched} files are too large and were not searched.` : "",
    more ? `Only the first ${maxFiles} entries were looked at.` : "",
  ].filter((note) => note !== "");
  return [...found, ...(notes.length > 0 ? [`[${notes.join(" ")}]`] : [])].join("\n");
}

/** Reads a file's text. Undefined: not text, or unreadable. */
async function readSearchable(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    return textIn((await workspace.read(path, { maxBytes: maxBytesOfFile })).content);
  } catch {
    return undefined;
  }
}
