import type { Finding } from "../protocol/people/overview.ts";
import { type LoadedPrompts, promptFiller, type PromptRegistry } from "../agents/load-prompts.ts";
import { plainEnvironment } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { toolSettingsOf } from "../config/sections/tools.ts";
import type { Services } from "../http/server/services.ts";
import type { RetrievePassages } from "../knowledge/search/retrieve.ts";
import type { Tool, ToolRegistry } from "../protocol/agents/tools.ts";
import type { SandboxSource } from "../sandbox/sandbox.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import { builtInTools, codeTools, fileTools } from "../tools/built-in.ts";
import type { ModelRelay } from "../tools/core/model-relay.ts";
import { createToolRegistry } from "../tools/core/registry.ts";
import { loadUserTools, type ToolProblem } from "../tools/core/user-tools.ts";
import { ragTool } from "../tools/basic/rag.ts";
import { chromiumInstall, findMarp, marpInstall, type MarpOptions } from "../tools/ppt-maker/marp.ts";
import { pptMakerTool } from "../tools/ppt-maker/ppt-maker.ts";
import { findNpmProgram } from "../tools/code/npm-program.ts";
import { nanocoderMissing } from "../tools/code/python-coder/nanocoder.ts";
import type { OpenKnowledge } from "./knowledge.ts";
import type { OpenMcp } from "./mcp.ts";
import type { OpenedModels } from "./models.ts";
import { type OpenToolsServer, unknownToolModels, withoutSandboxed } from "./remote-tools.ts";
import { pythonSourceOf, sandboxLimitsOf } from "./sandbox.ts";
import type { OpenTaiga } from "./taiga.ts";
import type { OpenWebTools } from "./web-tools.ts";
import type { OpenWorkspaces } from "./workspaces.ts";

export type OpenTools = {
  readonly tools: ToolRegistry;
  /** Also of those that another server has in their place. */
  readonly names: () => readonly string[];
  /** What is wrong with files of tools. */
  readonly problems: readonly ToolProblem[];
  /** Models that the configuration names for tools and that are not there, a sentence each. */
  readonly strayModels: (hasModel: (name: string) => boolean) => readonly string[];
  readonly services: Pick<Services, "tools">;
  readonly findings: () => Promise<readonly Finding[]>;
};

type ToolsDeps = {
  readonly sandbox: SandboxSource;
  readonly workspaces: Pick<OpenWorkspaces, "workspaces">;
  readonly models: Pick<OpenedModels, "relay">;
  readonly knowledge: Pick<OpenKnowledge, "retrieve">;
  readonly prompts: LoadedPrompts;
  readonly web: OpenWebTools;
  readonly mcp: Pick<OpenMcp, "servers">;
  readonly taiga: Pick<OpenTaiga, "tools" | "rights">;
  readonly toolsServer: Pick<OpenToolsServer, "remote">;
  /** Whether commands may run in this process. */
  readonly runsJobs: boolean;
};

/** All tools: built in, of the operator's files, of other systems, of MCP servers, of a server of tools. */
export async function openTools(config: Config, deps: ToolsDeps): Promise<OpenTools> {
  const { workspaces, models, knowledge, web, mcp, taiga, toolsServer, prompts, ...rest } = deps;
  const ownTools = ownToolsOf(config, {
    ...rest,
    prompts: prompts.prompts,
    workspaces: workspaces.workspaces,
    relay: models.relay,
    retrieve: knowledge.retrieve,
    web: web.tools,
  });
  const userTools = await loadUserTools(config.tools.folder, { taken: ownTools });
  const here = [...ownTools, ...taiga.tools, ...userTools.tools];
  const settings = toolSettingsOf(config.tools);
  const tools = createToolRegistry(toolsServer.remote ? withoutSandboxed(here) : here, mcp.servers.sources, {
    rights: taiga.rights,
    settings,
    instead: toolsServer.remote?.source,
  });
  return {
    tools,
    names: () => [...tools.list(), ...here].map(({ name }) => name),
    problems: userTools.problems,
    strayModels: (hasModel) => unknownToolModels(settings, hasModel),
    services: { tools },
    findings: () => codeFindings(config),
  };
}

export type OwnToolsDeps = {
  readonly sandbox: SandboxSource;
  readonly workspaces: Workspaces;
  readonly relay: ModelRelay;
  /** Absent: this process has no collections. */
  readonly retrieve?: RetrievePassages;
  readonly prompts: PromptRegistry;
  /** Those of `web-tools.ts`. */
  readonly web: readonly Tool[];
  /** Whether commands may run in this process. */
  readonly runsJobs: boolean;
};

/** The tools that are built in, as the configuration wants them. */
export function ownToolsOf(
  config: Config,
  { sandbox, workspaces, relay, retrieve, prompts, web, runsJobs }: OwnToolsDeps,
): readonly Tool[] {
  const { mode, nanocoder, nanocoderTimeout } = config.tools.python_coder;
  const python = pythonSourceOf(config, sandbox);
  // What it has stands in descriptions of tools; nobody waits for it.
  if (runsJobs) void python.state();
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
  const slides = pptMakerTool({ ...place, ...marpWishOf(config), prompt: promptFiller(prompts, "ppt_maker") });
  return [
    ...builtInTools,
    ...fileTools(workspaces),
    ...code,
    slides,
    ...web,
    ...(retrieve ? [ragTool({ retrieve, prompt: promptFiller(prompts, "rag_query") })] : []),
  ];
}

function marpWishOf({ tools: { ppt_maker: settings } }: Config): MarpOptions {
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
