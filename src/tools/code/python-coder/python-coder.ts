import { z } from "zod";
import type { Tool, ToolResult } from "../../../protocol/agents/tools.ts";
import { filesText, stoppedText } from "../command-result.ts";
import { defineTool } from "../../core/define-tool.ts";
import {
  failureOf,
  type PythonOutcome,
  type PythonCodeDeps,
  withPythonDescription,
  runPythonCode,
} from "../python-code/python-code.ts";
import { networkText } from "../run-command.ts";
import { type NanocoderDeps, runNanocoder } from "./nanocoder.ts";

export type PythonCoderDeps = PythonCodeDeps & NanocoderDeps & { readonly mode: "native" | "nanocoder" };

/** For the sandbox to begin and to end. */
const marginMs = 15_000;

/** Two tools of one name: the model writes the code, or somebody else does. */
export function pythonCoderTool(place: PythonCoderDeps): Tool {
  return place.mode === "native" ? nativeTool(place) : nanocoderTool(place);
}

function nativeTool(place: PythonCodeDeps): Tool {
  const tool = defineTool({
    name: "python_coder",
    description:
      "Runs Python code that you write, and gives back what it printed and which files it made. Files of the workspace stay " +
      "for later calls, variables do not. Charts of matplotlib are saved as PNG. " +
      networkText(place),
    input: z.object({ code: z.string().min(1).describe("The Python code; print what you want to see") }),
    effect: "write",
    bringsIn: place.hosts.length > 0,
    hosts: place.hosts,
    scope: "sandbox",
    runsCode: true,
    timeoutMs: place.limits.timeoutMs + marginMs,
    async execute({ code }, context) {
      return resultOf(await runPythonCode(place, context, { code }));
    },
  });
  return withPythonDescription(tool, place.python);
}

function resultOf(outcome: PythonOutcome): ToolResult {
  const { end, exitCode, durationMs, stdout, stderr, output, files, left, limits } = outcome;
  const stopped = stoppedText({ end }, limits);
  const error = stopped ?? failureOf(outcome);
  const told = [
    output.trimEnd(),
    left?.value ?? "",
    stopped ?? left?.traceback ?? error ?? "",
    left?.figures === undefined ? "" : `Charts could not be saved: ${left.figures}`,
    filesText(files),
  ].filter((part) => part !== "");
  return {
    content: told.length > 0 ? told.join("\n") : "[no output: print what you want to see]",
    ...(error === undefined ? {} : { isError: true }),
    data: { mode: "native", end, exitCode: exitCode ?? null, durationMs, stdout, stderr, error, files },
  };
}

function nanocoderTool(place: NanocoderDeps): Tool {
  return defineTool({
    name: "python_coder",
    description:
      "Gives a task in plain words to a coding agent that writes Python, runs it in the workspace and mends its own mistakes. " +
      "It knows nothing of this conversation: say what to compute or change, which files to read and write, and what to tell. " +
      "Network access is disabled.",
    input: z.object({ task: z.string().min(1).max(50_000).describe("The task, in plain words, never code") }),
    effect: "write",
    scope: "sandbox",
    runsCode: true,
    timeoutMs: place.nanocoderSeconds * 1000 + marginMs,
    execute: ({ task }, context) => runNanocoder(place, context, task),
  });
}
