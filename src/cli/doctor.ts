import { join } from "node:path";
import { styleText } from "node:util";
import type { Finding } from "./protocol/overview.ts";
import { withModels } from "./agents/choose-model.ts";
import { loadAgents, type LoadedAgents } from "./agents/load.ts";
import { loadPrompts } from "./agents/load-prompts.ts";
import { missingTools, strayNames, type KnownNames } from "./agents/stray-names.ts";
import { createClient } from "./client/client.ts";
import { findServer } from "./cli-connect.ts";
import { shownSetting } from "./cli-settings.ts";
import { describeConfig, loadConfig, modelChoiceOf, type Config } from "./config.ts";
import { relayWire } from "./http/dialects/chat-completions/relay-wire.ts";
import { codeFindings, ownToolsOf, slidesFindings } from "./main-own-tools.ts";
import { modelFinding } from "./main-definitions.ts";
import { configuredRetention, retentionFindings } from "./main-retention.ts";
import { pythonFindings, pythonSourceOf, sandboxFindings, sandboxOf, unmetDemands } from "./main-sandbox.ts";
import { chooseModels } from "./models/choose.ts";
import { createModels, type Models } from "./models/registry.ts";
import type { Probe } from "./models/probe.ts";
import { messageOf } from "./protocol/errors.ts";
import type { Tool } from "./protocol/tools.ts";
import { strategies } from "./run/strategies.ts";
import { createWorkspaces } from "./sandbox/workspaces.ts";
import { type DefinitionKey, listDefined } from "./store/definitions.ts";
import { examineDatabase } from "./store/examine.ts";
import { refuseHalfImported } from "./store/import.ts";
import { migrate } from "./store/migrate.ts";
import { compareFiles } from "./store/node-marker.ts";
import { openDatabase } from "./store/open.ts";
import { defaultServers } from "./tools/mcp/mcp-servers.ts";
import { createModelRelay } from "./tools/model-relay.ts";
import { loadUserTools } from "./tools/user-tools.ts";

/**
 * Checks configuration, files, database and models, and says what it saw: a line each, or with `json` all at once as
 * `{ok, findings}`. Exit code 1 if something is wrong.
 */
export async function doctor({ json }: { readonly json: boolean }): Promise<number> {
  const config = loadConfig();
  const findings: Finding[] = [];
  for await (const finding of examine(config)) {
    findings.push(finding);
    if (!json) console.log(lineOf(finding));
  }
  const ok = findings.every(({ grade }) => grade !== "trouble");
  if (json) console.log(JSON.stringify({ ok, findings }, undefined, 2));
  return ok ? 0 : 1;
}

function lineOf({ grade, about, text }: Finding): string {
  const mark = {
    ok: styleText("green", "ok     "),
    note: styleText("yellow", "note   "),
    trouble: styleText("red", "trouble"),
  }[grade];
  return `${mark} ${about.padEnd(10)} ${text}`;
}

async function* examine(config: Config): AsyncGenerator<Finding> {
  const set = describeConfig(config).filter(({ source }) => source !== "default");
  yield { grade: "ok", about: "config", text: `${config.file ?? "no file"}; ${set.length} values set` };
  for (const { path, value, source } of set)
    yield { grade: "ok", about: "config", text: `${path} = ${shownSetting(path, value)}  (${source})` };

  const prompts = await loadPrompts({ folder: config.prompts });
  const relay = createModelRelay(relayWire);
  const workspaces = createWorkspaces({ folder: join(config.data, "scratch") });
  const ownTools = ownToolsOf(config, {
    sandbox: sandboxOf(config),
    workspaces,
    relay,
    prompts: () => prompts.prompts,
    retrieve: () => Promise.reject(new Error("doctor finds no passages")),
    works: false,
  });
  const tools = await loadUserTools(config.tools.folder, { taken: ownTools });
  const agents = await loadAgents({ folder: config.agents });
  for (const { file, line, message } of [...tools.problems, ...agents.problems, ...prompts.problems]) {
    yield { grade: "trouble", about: "files", text: `${file}${line === undefined ? "" : `:${line}`}: ${message}` };
  }
  yield {
    grade: "ok",
    about: "agents",
    text: agents.agents
      .list()
      .map(({ id }) => id)
      .join(", "),
  };
  const servers = Object.keys(config.mcpServers);
  if (servers.length > 0) yield { grade: "ok", about: "mcp", text: `configured: ${servers.join(", ")}` };
  const choice = await chooseModels(modelChoiceOf(config));
  yield { grade: "ok", about: "tools", text: [...ownTools, ...tools.tools].map(({ name }) => name).join(", ") };

  yield* examineModels(config, choice.probes);
  yield* examineStore(config, async function* (defined) {
    yield modelFinding(choice);
    const models = defined.filter(({ kind }) => kind === "model").map(({ id }) => id);
    if (models.length > 0)
      yield { grade: "note", about: "model", text: `the server looks at those of admins, too: ${models.join(", ")}` };
    yield* examineNames(config, agents, {
      tools: [...ownTools, ...tools.tools],
      models: createModels({ models: choice.models }),
      defined,
    });
  });
}

/** Models, strategies, agents and tools that agents name and that are not there. */
async function* examineNames(
  { mcpServers, taiga }: Config,
  { agents: written, own }: Pick<LoadedAgents, "agents" | "own">,
  {
    tools,
    models,
    defined,
  }: { readonly tools: readonly Tool[]; readonly models: Models; readonly defined: readonly DefinitionKey[] },
): AsyncGenerator<Finding> {
  const definedIds = (kind: DefinitionKey["kind"]) => defined.filter((one) => one.kind === kind).map(({ id }) => id);
  const agents = withModels(written, models.list()).list();
  const known: KnownNames = {
    agents: [...agents.map(({ id }) => id), ...definedIds("agent")],
    strategies: Object.keys(strategies),
    tools: [...tools.map(({ name }) => name), ...Object.keys(defaultServers)],
    toolPrefixes: [
      ...Object.entries(mcpServers).map(([name, { prefix = name }]) => (prefix === "" ? "" : `${prefix}_`)),
      ...definedIds("mcp-server").map((name) => `${name}_`),
      "todo_",
      ...(taiga ? ["taiga_"] : []),
    ],
    hasModel: (name) => models.has(name) || definedIds("model").includes(name),
  };
  for (const agent of agents) {
    if (own.has(agent.id))
      for (const text of strayNames(agent, known)) yield { grade: "trouble", about: "agents", text };
  }
  const later = new Set(agents.flatMap((agent) => (own.has(agent.id) ? [] : missingTools(agent, known))));
  if (later.size > 0)
    yield {
      grade: "note",
      about: "agents",
      text: `built-in agents name tools that are not there: ${[...later].join(", ")}`,
    };
  await models.close();
}

async function* examineModels(config: Config, probes: readonly Probe[]): AsyncGenerator<Finding> {
  for (const probe of probes) {
    yield {
      grade: probe.outcome === "found" ? "ok" : "note",
      about: probe.kind,
      text: `${probe.url}: ${probe.detail}`,
    };
  }
  for (const path of config.absent.keys())
    yield { grade: "note", about: "models", text: `${path} is absent: \${${config.absent.get(path)}} is not set` };
}

async function* examineSandbox(config: Config): AsyncGenerator<Finding> {
  const { agents } = await loadAgents({ folder: config.agents });
  const sandbox = sandboxOf(config);
  try {
    const state = await sandbox.state();
    yield* sandboxFindings(state);
    for (const text of unmetDemands(agents, state)) yield { grade: "trouble", about: "agents", text };
    yield* pythonFindings(await pythonSourceOf(config, sandbox).state());
    yield* await codeFindings(config);
    yield* await slidesFindings(config);
  } finally {
    await sandbox.close();
  }
}

/** A running server holds an embedded database, and knows what is there, so it is asked instead. */
async function* examineStore(
  config: Config,
  examineNamesWith: (defined: readonly DefinitionKey[]) => AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  try {
    const running = await findServer(config);
    if (running) {
      const client = createClient(running);
      const { status, version } = await client.health();
      yield { grade: "ok", about: "server", text: `${running.url} answers: ${String(status)}, ${String(version)}` };
      yield* await client.examine();
      return;
    }
    yield* examineSandbox(config);
    const database = await openDatabase({
      dataDirectory: config.data,
      ...(config.database === undefined ? {} : { url: config.database }),
      onStep: (text) => console.error(text),
    });
    try {
      await refuseHalfImported(database.query);
      await migrate(database);
      yield* examineNamesWith(await listDefined(database.query));
      const fileProof = await compareFiles(database.query, config.data);
      yield* await examineDatabase(database, { dataDirectory: config.data, ...(fileProof ? { fileProof } : {}) });
      yield* await retentionFindings(database.query, configuredRetention(config));
    } finally {
      await database.close();
    }
  } catch (error) {
    yield { grade: "trouble", about: "database", text: messageOf(error) };
  }
}
