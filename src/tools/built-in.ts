import type { Tool } from "../protocol/tools.ts";
import type { Workspaces } from "../sandbox/workspaces.ts";
import { bashTool } from "./bash.ts";
import { calculate } from "./calculate.ts";
import { editFileTool } from "./edit-file.ts";
import { listFilesTool } from "./list-files.ts";
import { now } from "./now.ts";
import { type PythonCoderPlace, pythonCoderTool } from "./python-coder/python-coder.ts";
import { readFileTool } from "./read-file.ts";
import { runPythonTool } from "./run-python.ts";
import { searchFilesTool } from "./search-files.ts";
import { taskTools } from "./tasks.ts";
import { writeFileTool } from "./write-file.ts";

/** The tools every server has. */
export const builtInTools: readonly Tool[] = [...taskTools, calculate, now];

/** Those that work with the files of a thread, and need no sandbox. */
export function fileTools(workspaces: Pick<Workspaces, "open">): readonly Tool[] {
  return [readFileTool, writeFileTool, editFileTool, listFilesTool, searchFilesTool].map((make) => make(workspaces));
}

/** Those that run code that a model wrote. */
export function codeTools(place: PythonCoderPlace): readonly Tool[] {
  return [bashTool(place), runPythonTool(place), pythonCoderTool(place)];
}
