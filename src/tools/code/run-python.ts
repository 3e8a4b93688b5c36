import { z } from "zod";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { filesText, stoppedText } from "./command-result.ts";
import { defineTool } from "../core/define-tool.ts";
import {
  failureOf,
  type PythonOutcome,
  type PythonCodeDeps,
  withPythonDescription,
  runPythonCode,
} from "./python-code/python-code.ts";
import { networkText } from "./run-command.ts";

const description =
  "Execute Python code in the workspace. Reports what it printed, the variables it left, the value of its last line if that " +
  "is an expression, and the files it made. Each call begins anew: only files stay. Charts of matplotlib that are left open " +
  "are saved as PNG.";

/** For the sandbox to begin and to end. */
const marginMs = 15_000;

export function runPythonTool(place: PythonCodeDeps): Tool {
  const tool = defineTool({
    name: "run_python",
    description: `${description} ${networkText(place)}`,
    input: z.object({ code: z.string().min(1).describe("The Python code to execute") }),
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
  // Whoever is given all tools has python_coder for this.
  return withPythonDescription({ ...tool, mustBeNamed: true }, place.python);
}

function resultOf(outcome: PythonOutcome): ToolResult {
  const { end, exitCode, durationMs, stdout, stderr, output, files, left } = outcome;
  const error = stoppedText(outcome, outcome.limits) ?? failureOf(outcome);
  const variables = left?.variables ?? {};
  const parts = [
    error === undefined ? `EXEC_OK: ${dictionary(variables)}` : `EXEC_ERROR: ${error}`,
    left?.traceback ?? "",
    left?.value === undefined ? "" : `Value:${left.value.includes("\n") ? "\n" : " "}${left.value}`,
    output.trim() === "" ? "" : `Output:\n${output.trimEnd()}`,
    left?.figures === undefined ? "" : `Charts could not be saved: ${left.figures}`,
    filesText(files),
  ];
  return {
    content: parts.filter((part) => part !== "").join("\n"),
    ...(error === undefined ? {} : { isError: true }),
    data: { end, exitCode: exitCode ?? null, durationMs, stdout, stderr, variables, value: left?.value, error, files },
  };
}

/** As Python would write it. */
function dictionary(variables: Readonly<Record<string, string>>): string {
  return `{${Object.entries(variables)
    .map(([name, text]) => `'${name}': ${text}`)
    .join(", ")}}`;
}
