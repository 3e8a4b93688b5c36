import { isOtherUsersPort } from "../egress/port-owner.ts";
import { join } from "node:path";
import { styleText } from "node:util";
import type { Finding } from "../protocol/people/overview.ts";
import { loadAgents } from "../agents/load.ts";
import { loadPrompts, promptFiller } from "../agents/load-prompts.ts";
import { createClient } from "../client/client.ts";
import { findServer } from "./connect.ts";
import { redactedSetting } from "../config/redacted-setting.ts";
import { describeConfig, loadConfig } from "../config/load.ts";
import { modelChoiceOf, type Config } from "../config/schema.ts";
import { relayWire } from "../http/dialects/chat-completions/relay-wire.ts";
import { ownToolsOf } from "../app/tools.ts";
import { webToolsOf } from "../app/web-tools.ts";
import { modelFinding } from "../app/definitions.ts";
import { configuredRetention } from "../app/people.ts";
import { retentionFindings } from "../people/retention.ts";
import { sandboxOf } from "../app/sandbox.ts";
import { chooseModels } from "../models/discovery/choose.ts";
import { createModels } from "../models/registry.ts";
import { messageOf } from "../protocol/base/errors.ts";
import { createWorkspaces } from "../sandbox/workspace/workspaces.ts";
import { type DefinitionKey, listDefined } from "../store/definitions.ts";
import { checkConnections } from "../store/installation/connection-room.ts";
import { examineDatabase } from "../store/installation/examine-database.ts";
import { refuseHalfImported } from "../store/moving/import.ts";
import { migrate } from "../store/schema/migrate.ts";
import { compareFiles } from "../store/installation/data-folder.ts";
import { postgresOf } from "../app/store.ts";
import { openDatabase } from "../store/driver/open.ts";
import { postgresNodes, refuseOtherDatabase } from "../store/driver/postgres-nodes.ts";
import { createModelRelay } from "../tools/core/model-relay.ts";
import { loadUserTools } from "../tools/core/user-tools.ts";
import { examineAllowances, examineNames, examineModels, examineSandbox, examineWrites } from "../app/doctor.ts";

/**
 * Checks configuration, files, database and models, and says what it saw: a line each, or with `json` all at once as
 * `{ok, findings}`. Exit code 1 if something is wrong.
 */
export async function doctor({ json, all }: { readonly json: boolean; readonly all: boolean }): Promise<number> {
  const config = loadConfig();
  const findings: Finding[] = [];
  for await (const finding of examine(config, all)) {
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
    trouble: styleText("red", "error  "),
  }[grade];
  return `${mark} ${about.padEnd(10)} ${text}`;
}

async function* examine(config: Config, all: boolean): AsyncGenerator<Finding> {
  const set = describeConfig(config).filter(({ source }) => source !== "default");
  yield { grade: "ok", about: "config", text: `${config.file ?? "no file"}; ${set.length} values set` };
  for (const { path, value, source } of set)
    yield { grade: "ok", about: "config", text: `${path} = ${redactedSetting(path, value)}  (${source})` };

  const prompts = await loadPrompts({ folder: config.prompts });
  const relay = createModelRelay(relayWire);
  const workspaces = createWorkspaces({ folder: join(config.data, "scratch") });
  const ownTools = ownToolsOf(config, {
    sandbox: sandboxOf(config),
    workspaces,
    relay,
    prompts: prompts.prompts,
    web: webToolsOf(config, promptFiller(prompts.prompts, "websearch_answer")),
    retrieve: () => Promise.reject(new Error("doctor finds no passages")),
    runsJobs: false,
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
  const choice = await chooseModels({ ...modelChoiceOf(config), isAnothers: isOtherUsersPort });
  yield { grade: "ok", about: "tools", text: [...ownTools, ...tools.tools].map(({ name }) => name).join(", ") };
  yield* examineWrites(tools.tools);
  yield* examineAllowances(config.approval, agents.agents.list());

  yield* examineModels(config, choice.probes);
  yield* examineStore({ config, all }, async function* (defined) {
    yield modelFinding(choice);
    const models = defined.filter(({ kind }) => kind === "model").map(({ id }) => id);
    if (models.length > 0)
      yield {
        grade: "note",
        about: "model",
        text: `models defined by admins are checked by the server: ${models.join(", ")}`,
      };
    yield* examineNames(config, agents, {
      tools: [...ownTools, ...tools.tools],
      models: createModels({ models: choice.models }),
      defined,
    });
  });
}

/** The servers that work on PostgreSQL with this data directory: where each answers, and how many processes it is. */
async function* examineNodes({ data, database }: Config): AsyncGenerator<Finding> {
  refuseOtherDatabase(data, database.url);
  for (const [url = "", nodes] of Map.groupBy(postgresNodes(data), (node) => node.url)) {
    const about = "server";
    const pids = nodes.map(({ pid }) => pid).join(", ");
    const workers = nodes.length === 1 ? `process ${pids}` : `${nodes.length} processes: ${pids}`;
    try {
      const { status, version } = await createClient({ url }).health();
      yield { grade: "ok", about, text: `${url} answers: ${String(status)}, ${String(version)} (${workers})` };
    } catch (error) {
      yield { grade: "trouble", about, text: `${url} does not answer: ${messageOf(error)} (${workers})` };
    }
  }
}

/** A running server holds an embedded database, and knows what is there, so it is asked instead. */
async function* examineStore(
  { config, all }: { readonly config: Config; readonly all: boolean },
  examineNamesWith: (defined: readonly DefinitionKey[]) => AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  try {
    const running = await findServer(config);
    if (running) {
      const client = createClient(running);
      const { status, version } = await client.health();
      yield { grade: "ok", about: "server", text: `${running.url} answers: ${String(status)}, ${String(version)}` };
      yield* await client.examine({ all });
      return;
    }
    yield* examineNodes(config);
    yield* examineSandbox(config);
    const database = await openDatabase({
      dataDirectory: config.data,
      ...postgresOf(config),
      onStep: (text) => console.error(text),
    });
    try {
      await refuseHalfImported(database.query);
      await migrate(database.maintenance);
      yield* examineNamesWith(await listDefined(database.query));
      const fileProof = await compareFiles(database.query, config.data);
      yield* await examineDatabase(database.maintenance, {
        all,
        dataDirectory: config.data,
        ...(fileProof ? { fileProof } : {}),
      });
      const { workers } = config;
      const scarce =
        database.kind === "postgres" && (await checkConnections(database.query, { workers, ...config.database }));
      if (scarce) yield { grade: workers > 1 ? "trouble" : "note", about: "database", text: scarce };
      yield* await retentionFindings(database.query, configuredRetention(config));
    } finally {
      await database.close();
    }
  } catch (error) {
    yield { grade: "trouble", about: "database", text: messageOf(error) };
  }
}
