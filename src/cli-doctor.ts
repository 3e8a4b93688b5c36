import { styleText } from "node:util";
import { loadAgents } from "./agents/load.ts";
import { createClient } from "./client/client.ts";
import { findServer } from "./cli-connect.ts";
import { shownSetting } from "./cli-settings.ts";
import { describeConfig, loadConfig, type Config } from "./config.ts";
import { probeBackends } from "./models/probe.ts";
import { messageOf } from "./protocol/errors.ts";
import { examineDatabase, type Finding } from "./store/examine.ts";
import { refuseHalfImported } from "./store/import.ts";
import { migrate } from "./store/migrate.ts";
import { compareFiles } from "./store/node-marker.ts";
import { openDatabase } from "./store/open.ts";
import { builtInTools } from "./tools/built-in.ts";
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

  const tools = await loadUserTools(config.tools, { taken: builtInTools });
  const agents = await loadAgents({ folder: config.agents });
  for (const { file, line, message } of [...tools.problems, ...agents.problems]) {
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
  yield { grade: "ok", about: "tools", text: [...builtInTools, ...tools.tools].map(({ name }) => name).join(", ") };

  yield* examineModels(config);
  yield* examineStore(config);
}

async function* examineModels(config: Config): AsyncGenerator<Finding> {
  for (const probe of await probeBackends({ ownPort: config.server.port })) {
    yield {
      grade: probe.outcome === "found" ? "ok" : "note",
      about: probe.kind,
      text: `${probe.url}: ${probe.detail}`,
    };
  }
  for (const path of config.absent.keys())
    yield { grade: "note", about: "models", text: `${path} is absent: \${${config.absent.get(path)}} is not set` };
}

/** A running server holds an embedded database, so it is asked instead. */
async function* examineStore(config: Config): AsyncGenerator<Finding> {
  try {
    const running = await findServer(config);
    if (running) {
      const client = createClient(running);
      const { status, version } = await client.health();
      yield { grade: "ok", about: "server", text: `${running.url} answers: ${String(status)}, ${String(version)}` };
      yield* await client.examine();
      return;
    }
    const database = await openDatabase({
      dataDirectory: config.data,
      ...(config.database === undefined ? {} : { url: config.database }),
      onStep: (text) => console.error(text),
    });
    try {
      await refuseHalfImported(database.query);
      await migrate(database);
      const fileProof = await compareFiles(database.query, config.data);
      yield* await examineDatabase(database, { dataDirectory: config.data, ...(fileProof ? { fileProof } : {}) });
    } finally {
      await database.close();
    }
  } catch (error) {
    yield { grade: "trouble", about: "database", text: messageOf(error) };
  }
}
