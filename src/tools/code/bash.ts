import { constants } from "node:os";
import { z } from "zod";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { filesText, secondsText, stoppedText } from "./command-result.ts";
import { defineTool } from "../core/define-tool.ts";
import { type CodeToolDeps, type CommandOutcome, networkText, runCommand } from "./run-command.ts";

const mostSeconds = 600;
/** For the sandbox to begin, and for what is left when the command's own time is over. */
const marginSeconds = 30;

const description =
  "Run a bash command in the workspace container. Use for ALL file operations: reading (cat, head), writing " +
  "(cat << EOF), editing (sed, or rewrite file), listing (ls, find), searching (grep), running code (python, node), etc. " +
  "Files in the workspace stay for later calls; processes end with the command, and nobody answers a prompt.";

export function bashTool(place: CodeToolDeps): Tool {
  const usual = place.limits.timeoutMs / 1000;
  const most = Math.max(mostSeconds, usual);
  return defineTool({
    name: "bash",
    description: `${description} ${networkText(place)}`,
    input: z.object({
      cmd: z.string().min(1).describe("The bash command to execute"),
      timeout_seconds: z
        .number()
        .positive()
        .max(most)
        .optional()
        .describe(`When it is stopped; ${usual} if you do not say`),
    }),
    effect: "write",
    bringsIn: place.hosts.length > 0,
    hosts: place.hosts,
    scope: "sandbox",
    runsCode: true,
    timeoutMs: (most + marginSeconds) * 1000,
    async execute({ cmd, timeout_seconds: timeoutSeconds }, context) {
      return resultOf(await runCommand(place, context, { argv: ["bash", "-c", cmd], timeoutSeconds }));
    },
  });
}

/** Its output, and after that what is not as usual. A command that fails is no failure of the tool. */
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

/** Of the signal that ends a program whose file becomes longer than there is room. */
const fileTooLong = 128 + constants.signals.SIGXFSZ;

function exitText(exitCode: number | undefined): string {
  if (exitCode === 0) return "";
  const reason =
    exitCode === fileTooLong ? ": a file would have become larger than there is room in the workspace" : "";
  return `[exit code ${exitCode}${reason}]`;
}
