import { join, relative, sep } from "node:path";
import { z } from "zod";
import { newId } from "../../../protocol/base/ids.ts";
import type { StepAnswer, ToolContext, ToolResult } from "../../../protocol/agents/tools.ts";
import type { Workspace } from "../../../sandbox/workspace/workspace.ts";
import { filesText, shortened, stoppedText } from "../command-result.ts";
import type { ModelRelay } from "../../core/model-relay.ts";
import { type CodeToolDeps, runCommand } from "../run-command.ts";
import { findNpmProgram } from "../npm-program.ts";

export type NanocoderDeps = CodeToolDeps & {
  readonly relay: ModelRelay;
  /** Its program, or the folder of its package; absent: found in the PATH. */
  readonly nanocoder: string | undefined;
  readonly searchPath: string;
  readonly nanocoderSeconds: number;
};

const install = "npm install -g @nanocollective/nanocoder@1.30.0";

/** Where a sandbox finds what is not of its own. The port stands in agents.config.json too. */
const node = "/opt/node/bin/node";
const modules = "/opt/nanocoder/node_modules";
const settings = "/opt/nanocoder/settings";
const relayPort = 39_993;

const maxTurns = 50;
const maxReportBytes = 8 * 1024 * 1024;
const maxCalls = 100;

const reportSchema = z.looseObject({
  kind: z.string(),
  finalText: z.string().nullish(),
  message: z.string().nullish(),
  toolCalls: z
    .array(z.looseObject({ name: z.string(), arguments: z.unknown().optional(), error: z.unknown().optional() }))
    .nullish(),
  filesChanged: z.array(z.string()).nullish(),
});
type NanocoderReport = z.infer<typeof reportSchema>;

/** Gives a task to the CLI, all of which runs in the sandbox; its model calls are steps of this run. */
export async function runNanocoder(place: NanocoderDeps, context: ToolContext, task: string): Promise<ToolResult> {
  const { relay, nanocoder: named, searchPath, nanocoderSeconds } = place;
  const nanocoder = await findNpmProgram("nanocoder", { named, searchPath });
  if (!nanocoder) throw new Error(`python_coder works by nanocoder here. ${nanocoderMissing(named)}`);
  const { report } = await place.sandbox.open();
  if (!report.mounts || !report.relay)
    throw new Error(
      `python_coder works by nanocoder here, which the sandbox ${report.driver} can't run: ${nativeInstead}`,
    );
  const program = [modules, ...relative(nanocoder.root, nanocoder.program).split(sep)].join("/");
  const reportPath = `.colloquy/nanocoder-${newId()}.json`;
  const listening = await relay.listen({ signal: context.signal, step: telling(context) });
  try {
    const options = ["--provider", "colloquy", "--model", "colloquy", "--mode", "yolo", "--trust-directory"];
    const cli = [node, program, ...options, "--plain", "--json", "run", task];
    const outcome = await runCommand(place, context, {
      // Its report may be longer than what is kept of an output.
      argv: ["bash", "-c", 'mkdir -p .colloquy && exec "$@" > "$0"', reportPath, ...cli],
      env: {
        NANOCODER_CONFIG_DIR: settings,
        NANOCODER_DATA_DIR: "/tmp/nanocoder",
        NANOCODER_LOG_DISABLE_FILE: "1",
        NANOCODER_MAX_TURNS: String(maxTurns),
        COLLOQUY_RELAY_TOKEN: listening.token,
      },
      mounts: [
        { source: process.execPath, target: node },
        { source: nanocoder.root, target: modules },
        { source: join(import.meta.dirname, "agents.config.json"), target: `${settings}/agents.config.json` },
      ],
      relay: { socket: listening.socket, port: relayPort },
      timeoutSeconds: nanocoderSeconds,
      signal: AbortSignal.any([context.signal, listening.lost]),
    });
    const report = await readReport(outcome.workspace, reportPath);
    const { end, exitCode, durationMs, files, stderr, limits } = outcome;
    const stopped = stoppedText({ end }, limits);
    const failure = stopped ?? failureOf(report, { exitCode, stderr });
    const text = [failure ?? "", report?.finalText?.trim() ?? "", filesText(files)].filter((part) => part !== "");
    return {
      content: text.length > 0 ? text.join("\n") : "Done, without a word about it.",
      ...(failure === undefined ? {} : { isError: true }),
      data: {
        mode: "nanocoder",
        version: nanocoder.version,
        end,
        exitCode: exitCode ?? null,
        durationMs,
        stderr,
        files,
        filesChanged: report?.filesChanged ?? [],
        calls: callsOf(report),
      },
    };
  } finally {
    await listening.close();
  }
}

/** Followers see what the CLI is about to do. */
function telling({ step, progress }: ToolContext): ToolContext["step"] {
  let steps = 0;
  const about = ({ calls, text }: StepAnswer) =>
    calls.length > 0 ? calls.map(({ name, arguments: given }) => `${name} ${given.slice(0, 200)}`).join("\n") : text;
  return async (request, signal) => {
    const answer = await step(request, signal);
    progress(`Step ${++steps}: ${about(answer).slice(0, 1000)}`.toWellFormed());
    return answer;
  };
}

const nativeInstead = "tools.python_coder.mode: native (PYTHON_EXECUTOR_MODE) does without it.";

/** Where it was looked for, and what to do. */
export function nanocoderMissing(named: string | undefined): string {
  const where = named === undefined ? "nanocoder is not in the PATH" : `nanocoder not found at ${named}`;
  return `${where}: install it (${install}), or name it as tools.python_coder.nanocoder (NANOCODER_PATH); ${nativeInstead}`;
}

/** By a program that works in hostile files, for all we know. */
async function readReport(workspace: Workspace, path: string): Promise<NanocoderReport | undefined> {
  try {
    const { content } = await workspace.read(path, { maxBytes: maxReportBytes });
    return reportSchema.safeParse(JSON.parse(content.toString())).data;
  } catch {
    return undefined;
  } finally {
    await workspace.remove(path).catch(() => {});
  }
}

function failureOf(
  report: NanocoderReport | undefined,
  { exitCode, stderr }: { readonly exitCode: number | undefined; readonly stderr: string },
): string | undefined {
  if (report?.kind === "success" && exitCode === 0) return undefined;
  const said = report?.message ?? stderr.trim();
  return `[ERROR: nanocoder ended with exit code ${exitCode}${said ? `: ${said}` : ""}]`;
}

/** What the CLI did by its own tools, for traces. */
function callsOf(report: NanocoderReport | undefined): readonly object[] {
  return (report?.toolCalls ?? []).slice(0, maxCalls).map(({ name, arguments: given, error }) => ({
    name,
    arguments: shortened(typeof given === "string" ? given : (JSON.stringify(given) ?? "")),
    ...(error === undefined || error === null ? {} : { failed: true }),
  }));
}
