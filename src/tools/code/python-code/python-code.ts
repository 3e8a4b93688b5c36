import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { newId } from "../../../protocol/base/ids.ts";
import type { Tool, ToolContext } from "../../../protocol/agents/tools.ts";
import type { PythonSource } from "../../../sandbox/python-source.ts";
import type { Workspace } from "../../../sandbox/workspace/workspace.ts";
import { type CodeToolDeps, type CommandOutcome, runCommand } from "../run-command.ts";

export type PythonCodeDeps = CodeToolDeps & {
  readonly python: PythonSource;
};

/** What code left behind when it ended, as the runner in the sandbox tells it. */
const leftSchema = z.object({
  variables: z.record(z.string(), z.string()).default({}),
  value: z.string().optional(),
  error: z.string().optional(),
  traceback: z.string().optional(),
  /** Why open charts could not be saved. */
  figures: z.string().optional(),
});
export type PythonOutput = z.infer<typeof leftSchema>;

/** `left` is undefined when Python was killed or ended without a word. */
export type PythonOutcome = CommandOutcome & { readonly left: PythonOutput | undefined };

const runner = readFileSync(join(import.meta.dirname, "runner.py"), "utf8");
const maxNoteBytes = 256 * 1024;

/** Isolated, or a `json.py` in the workspace would take the place of Python's own for the runner. */
const flags = ["-I", "-B", "-u"];

/** Runs code as a program of its own, each time anew: only files stay. Throws when it was aborted or can't be run here. */
export async function runPythonCode(
  { python, ...place }: PythonCodeDeps,
  context: ToolContext,
  { code, timeoutSeconds }: { readonly code: string; readonly timeoutSeconds?: number | undefined },
): Promise<PythonOutcome> {
  const { here, problem } = await python.state();
  if (!here) throw new Error(`Python is not available: ${problem ?? "none was found"}. ${advice}`);
  const note = `.colloquy/python-${newId()}.json`;
  const outcome = await runCommand(place, context, {
    argv: [here.command, ...flags, "-c", runner, note],
    stdin: code,
    mounts: here.mounts,
    timeoutSeconds,
  });
  return { ...outcome, left: await readNote(outcome.workspace, note) };
}

const advice =
  "The operator can install it (on Debian and Ubuntu: apt-get install python3), or set an interpreter or virtual  " +
  "environment as sandbox.python in its configuration.";

/** Written by hostile code, for all we know. */
async function readNote(workspace: Workspace, path: string): Promise<PythonOutput | undefined> {
  try {
    const { content } = await workspace.read(path, { maxBytes: maxNoteBytes });
    const parsed = leftSchema.safeParse(JSON.parse(content.toString()));
    return parsed.data;
  } catch {
    return undefined;
  } finally {
    await workspace.remove(path).catch(() => {});
  }
}

/** Why the code failed, in one line; undefined: it did not. Of code that was killed the sandbox knows more. */
export function failureOf({ left, exitCode }: Pick<PythonOutcome, "left" | "exitCode">): string | undefined {
  if (left) return left.error;
  return exitCode === 0 ? undefined : `Python ended with exit code ${exitCode}`;
}

/** The tool, with the version and the packages in its description as soon as they are known. */
export function withPythonDescription(tool: Tool, python: PythonSource): Tool {
  return {
    ...tool,
    get description() {
      const here = python.known()?.here;
      if (!here) return tool.description;
      const packages = here.packages.length > 0 ? ` with ${here.packages.join(", ")}` : ", without further packages";
      return `${tool.description} Python ${here.version}${packages}.`;
    },
  };
}
