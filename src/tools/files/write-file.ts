import { z } from "zod";
import type { Tool } from "../../protocol/agents/tools.ts";
import { shownPath } from "../../sandbox/workspace/path.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { fileTool } from "./define-file-tool.ts";

export function writeFileTool(workspaces: Pick<Workspaces, "open">): Tool {
  return fileTool(workspaces, {
    name: "write_file",
    description:
      "Writes a text file of the workspace, in place of the one that is there. Folders that are missing are made. To change " +
      "a part of a file, use edit_file.",
    input: z.object({
      path: z.string().min(1).describe("Relative to the workspace, such as src/main.py"),
      content: z.string().describe("The whole file"),
    }),
    effect: "write",
    async execute({ path, content }, workspace, { signal }) {
      const written = await workspace.write(path, content, { signal });
      return {
        content: `OK: Wrote ${content.length} chars to ${shownPath(path)}`,
        data: { files: [written] },
      };
    },
  });
}
