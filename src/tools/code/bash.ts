import { constants } from "node:os";
import { z } from "zod";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { filesText, secondsText, stoppedText } from "./command-result.ts";
import { defineTool } from "../core/define-tool.ts";
import { type CodeToolDeps, type CommandOutcome, networkText, runCommand } from "./run-command.ts";

const maxSeconds = 600;
/** Margin for start-up and clean-up. */
const marginSeconds = 30;

const description =
  "Run a bash command in the workspace container. Use for ALL file operations: reading (cat, head), writing " +
  "(cat << EOF), editing (sed, or rewrite file), listing (ls, find), searching (grep), running code (python, node), etc. " +
  "Files in the workspace stay for later calls; processes end with the command, and nobody answers a prompt.";

export function bashTool(place: CodeToolDeps): Tool {
  const usual = place.limits.timeoutMs / 1000;
  const longest = Math.max(maxSeconds, usual);
  return defineTool({
    name: "bash",
    description: `${description} ${networkText(place)}`,
    input: z.object({
      cmd: z.string().min(1).describe("The bash command to execute"),
      timeout_seconds: z.number().positive().max(longest).optional().describe(`Timeout in seconds, default ${usual}`),
    }),
    effect: "write",
    bringsIn: place.hosts.length > 0,
    hosts: place.hosts,
    scope: "sandbox",
    runsCode: true,
    timeoutMs: (longest + marginSeconds) * 1000,
    async execute({ cmd, timeout_seconds: timeoutSeconds }, context) {
      return resultOf(await runCommand(place, context, { argv: ["bash", "-c", cmd], timeoutSeconds }));
    },
  });
}

/** The output, followed by notes on anything unusual. A command that fails is not a failure of the tool. */
function resultOf({ output, files, limits, ...outcome }: CommandOutcome): ToolResult {
  const { end, exitCode, durationMs, stdout, stderr, full } = outcome;
  const stopped = stoppedText({ end, full }, limits);
  const notes = [
    ...(output.trim() === "" && !stopped ? ["[no output]"] : []),
    stopped ?? exitText(exitCode),
    durationMs >= 1000 ? `[${secondsText(durationMs)}]` : "",
    filesText(files),
  ].filter((note) => note !== "");
  const content = [output.trimEnd(), ...notes].filter((part) => part !== "").join("\n");
  return {
    content,
    ...(stopped ? { isError: true } : {}),
    data: { end, exitCode: exitCode ?? null, durationMs, stdout, stderr, files },
  };
}

/** Exit code after SIGXFSZ: the size limit of a file was reached. */
const fileTooLong = 128 + constants.signals.SIGXFSZ;

function exitText(exitCode: number | undefined): string {
  if (exitCode === 0) return "";
  const reason =
    exitCode === fileTooLong ? ": a file would have become larger than there is room in the workspace" : "";
  return `[exit code ${exitCode}${reason}]`;
}
