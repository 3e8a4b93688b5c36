import type { Tool } from "../protocol/agents/tools.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import { bashTool } from "./code/bash.ts";
import { calculate } from "./basic/calculate.ts";
import { editFileTool } from "./files/edit-file.ts";
import { listFilesTool } from "./files/list-files.ts";
import { now } from "./basic/now.ts";
import { type PythonCoderDeps, pythonCoderTool } from "./code/python-coder/python-coder.ts";
import { readFileTool } from "./files/read-file.ts";
import { runPythonTool } from "./code/run-python.ts";
import { searchFilesTool } from "./files/search-files.ts";
import { taskTools } from "./basic/tasks.ts";
import { writeFileTool } from "./files/write-file.ts";

/** The tools every server has. */
export const builtInTools: readonly Tool[] = [...taskTools, calculate, now];

/** Those that work with the files of a thread, and need no sandbox. */
export function fileTools(workspaces: Pick<Workspaces, "open">): readonly Tool[] {
  return [readFileTool, writeFileTool, editFileTool, listFilesTool, searchFilesTool].map((make) => make(workspaces));
}

/** Those that run code that a model wrote. */
export function codeTools(place: PythonCoderDeps): readonly Tool[] {
  return [bashTool(place), runPythonTool(place), pythonCoderTool(place)];
}
