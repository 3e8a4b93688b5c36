import type { Finding } from "../protocol/people/overview.ts";
import type { PromptRegistry } from "../agents/load-prompts.ts";
import { fillPrompt } from "../agents/prompt-placeholders.ts";
import { plainEnvironment } from "../config/load.ts";
import { type Config } from "../config/schema.ts";
import { pythonSourceOf, sandboxLimitsOf } from "./sandbox.ts";
import { webToolsOf } from "./web-tools.ts";
import type { Retrieve } from "../knowledge/search/retrieve.ts";
import type { Tool } from "../protocol/agents/tools.ts";
import type { SandboxSource } from "../sandbox/sandbox.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import { builtInTools, codeTools, fileTools } from "../tools/built-in.ts";
import type { ModelRelay } from "../tools/core/model-relay.ts";
import { ragTool } from "../tools/basic/rag.ts";
import { chromiumInstall, findMarp, marpInstall, type MarpWish } from "../tools/ppt-maker/marp.ts";
import { pptMakerTool } from "../tools/ppt-maker/ppt-maker.ts";
import { findNpmProgram } from "../tools/code/npm-program.ts";
import { nanocoderMissing } from "../tools/code/python-coder/nanocoder.ts";

export type OwnToolsKit = {
  readonly sandbox: SandboxSource;
  readonly workspaces: Workspaces;
  readonly relay: ModelRelay;
  /** Absent: this process has no collections. */
  readonly retrieve?: Retrieve;
  /** They may be loaded later. */
  readonly prompts: () => PromptRegistry;
  /** Whether commands may run in this process. */
  readonly works: boolean;
  /** Where this server is reached; absent: as configured. */
  readonly ownPort?: () => number;
};

/** The tools that are built in, as the configuration wants them. */
export function ownToolsOf(
  config: Config,
  { sandbox, workspaces, relay, retrieve, prompts, works, ownPort }: OwnToolsKit,
): readonly Tool[] {
  const { mode, nanocoder, nanocoderTimeout } = config.tools.python_coder;
  const python = pythonSourceOf(config, sandbox);
  // What it has stands in descriptions of tools; nobody waits for it.
  if (works) void python.state();
  const limits = sandboxLimitsOf(config.sandbox);
  const place = { sandbox, workspaces, limits, hosts: config.sandbox.network.allow, searchPath: searchPath() };
  const code = codeTools({
    ...place,
    python,
    relay,
    mode,
    nanocoder,
    nanocoderSeconds: nanocoderTimeout,
  });
  const prompt = (name: string) => async (values: Readonly<Record<string, string>>) => {
    await prompts().refresh();
    return fillPrompt(prompts().get(name), values);
  };
  const slides = pptMakerTool({ ...place, ...marpWishOf(config), prompt: prompt("ppt_maker") });
  const web = webToolsOf(config, prompt("websearch_answer"), ownPort);
  return [
    ...builtInTools,
    ...fileTools(workspaces),
    ...code,
    slides,
    ...web,
    ...(retrieve ? [ragTool({ retrieve, prompt: prompt("rag_query") })] : []),
  ];
}

function marpWishOf({ tools: { ppt_maker: settings } }: Config): MarpWish {
  return { marp: settings?.marp, chromium: settings?.chromium, searchPath: searchPath() };
}

/** What slides are made with, for doctor. */
export async function slidesFindings(config: Config): Promise<Finding[]> {
  const about = "slides";
  const marp = await findMarp(marpWishOf(config));
  if (!marp) return [{ grade: "note", about, text: `no Marp: ppt_maker writes Markdown only. ${marpInstall}` }];
  const { program, chromium } = marp;
  return chromium === undefined
    ? [{ grade: "note", about, text: `Marp ${program.version}, no Chromium: HTML only. ${chromiumInstall}` }]
    : [{ grade: "ok", about, text: `Marp ${program.version}, ${chromium}` }];
}

/** For doctor. */
export async function codeFindings({ tools: { python_coder: coder } }: Config): Promise<Finding[]> {
  if (coder.mode === "native") return [];
  const about = "nanocoder";
  const found = await findNpmProgram("nanocoder", { named: coder.nanocoder, searchPath: searchPath() });
  return found
    ? [{ grade: "ok", about, text: `${found.version}, ${found.program}` }]
    : [{ grade: "note", about, text: nanocoderMissing(coder.nanocoder) }];
}

function searchPath(): string {
  return plainEnvironment()["PATH"] ?? "";
}
