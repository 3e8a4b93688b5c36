import { readdir, stat, utimes } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadPrompts, promptFiller } from "../agents/load-prompts.ts";
import { isLoopback } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { toolSettingsOf } from "../config/sections/tools.ts";
import { relayWire } from "../http/dialects/chat-completions/relay-wire.ts";
import { listen } from "../http/server/listen.ts";
import { createToolsApp } from "../http/tools-server/tools-app.ts";
import { ownToolsOf } from "./tools.ts";
import { webToolsOf } from "./web-tools.ts";
import { sandboxOf, spaceOf } from "./sandbox.ts";
import { defaultToolsPort } from "./remote-tools.ts";
import { workspacesOf } from "./workspaces.ts";
import { InvalidInput, messageOf } from "../protocol/base/errors.ts";
import { isId } from "../protocol/base/ids.ts";
import type { Log } from "../protocol/base/log.ts";
import type { SandboxState } from "../protocol/agents/sandboxes.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import { createModelRelay } from "../tools/core/model-relay.ts";
import { createToolRegistry } from "../tools/core/registry.ts";
import { loadUserTools, type ToolProblem } from "../tools/core/user-tools.ts";

export type ToolsServer = {
  readonly url: string;
  /** Their names. */
  readonly tools: readonly string[];
  readonly sandbox: SandboxState;
  readonly problems: readonly ToolProblem[];
  /** Lets calls finish for ten seconds. */
  readonly stop: () => Promise<void>;
};

export type ToolsServerOptions = {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly log: Log;
};

const graceMs = 10_000;
const dayMs = 24 * 60 * 60_000;

/** The tools of this machine as a server of their own, for servers of agents that name it: no database, no runs. */
export async function startToolsServer(
  config: Config,
  { host = "127.0.0.1", port, log }: ToolsServerOptions,
): Promise<ToolsServer> {
  const { token } = config.tools;
  if (token === undefined && !isLoopback(host))
    throw new InvalidInput(
      `Other machines can reach ${host}, and callers can run code here: set TOOLS_TOKEN (16 characters or more) for both servers, or listen on 127.0.0.1.`,
    );
  const space = spaceOf(config);
  const sandbox = sandboxOf(config, space);
  const workspaces = keepingTime(workspacesOf(config, { fileProof: "shared", sandbox, space }));
  const { prompts } = await loadPrompts({ folder: config.prompts, log });
  const relay = createModelRelay(relayWire);
  const web = webToolsOf(config, promptFiller(prompts, "websearch_answer"));
  const ownTools = ownToolsOf(config, { sandbox, workspaces, relay, prompts, web, runsJobs: true });
  const userTools = await loadUserTools(config.tools.folder, { taken: ownTools });
  const all = createToolRegistry([...ownTools, ...userTools.tools], [], { settings: toolSettingsOf(config.tools) });
  // What works on tables, or by rights that are known elsewhere, stays where these are.
  const tools = all.list().filter(({ scope, rights }) => scope !== "local" && rights === undefined);
  const served = createToolsApp({ tools, token, sandbox: sandbox.state, log });
  const days = config.retention.hiddenThreadsDays;
  const clean = () => removeUnused(join(config.data, "scratch"), workspaces, { days, log });
  const isAlone = !["db", "marker"].some((name) => existsSync(join(config.data, name)));
  const timer = isAlone ? setInterval(() => void clean(), dayMs).unref() : undefined;
  if (isAlone) void clean();
  const stop = async () => {
    clearInterval(timer);
    await served.stop(graceMs);
    await sandbox.close();
  };
  try {
    const url = await listen(served.app, {
      host,
      port: port ?? config.tools.port ?? defaultToolsPort,
      advice: "./colloquy tools serve --port 10016",
    });
    return {
      url,
      tools: tools.map(({ name }) => name),
      sandbox: await sandbox.state(),
      problems: userTools.problems,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A folder shows when its workspace was last used. */
function keepingTime(workspaces: Workspaces): Workspaces {
  return {
    ...workspaces,
    async open(threadId) {
      const opened = await workspaces.open(threadId);
      await utimes(opened.folder, new Date(), new Date());
      return opened;
    },
  };
}

/** Nobody tells this server that a session has ended. Where a server of agents has the same folder, that one removes them. */
async function removeUnused(
  folder: string,
  workspaces: Workspaces,
  { days, log }: { readonly days: number; readonly log: Log },
): Promise<void> {
  try {
    await workspaces.removeLeftovers();
    const names = existsSync(folder) ? await readdir(folder) : [];
    for (const name of names.filter(isId)) {
      const { mtimeMs } = await stat(join(folder, name));
      if (mtimeMs < Date.now() - days * dayMs) await workspaces.remove(name);
    }
  } catch (error) {
    log.warn({ error: messageOf(error) }, "could not remove unused workspaces; retrying");
  }
}
