import { z } from "zod";
import type { Tool } from "../../protocol/agents/tools.ts";
import type { FolderEntry } from "../../sandbox/workspace/walk.ts";
import { shownPath } from "../../sandbox/workspace/path.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { fileTool } from "./define-file-tool.ts";

const maxEntries = 500;

export function listFilesTool(workspaces: Pick<Workspaces, "open">): Tool {
  return fileTool(workspaces, {
    name: "list_files",
    description: "Lists the files and folders of the workspace, or of one folder in it, with their sizes.",
    input: z.object({
      path: z.string().default("").describe("A folder; empty: the whole workspace"),
      depth: z.int().min(1).max(20).default(3).describe("Levels of folders to look into"),
    }),
    effect: "read",
    async execute({ path, depth }, workspace) {
      const { entries, more } = await workspace.list({ under: path, depth, most: maxEntries });
      if (entries.length === 0) return `[${shownPath(path)} is empty.]`;
      const note = more ? [`[There is more: list one folder, or use search_files.]`] : [];
      return [...entries.map(lineOf), ...note].join("\n");
    },
  });
}

function lineOf({ path, kind, bytes }: FolderEntry): string {
  if (kind === "folder") return `${shownPath(path)}/`;
  return kind === "file" ? `${shownPath(path)} (${bytes} bytes)` : `${shownPath(path)} (${kind}, not readable)`;
}
