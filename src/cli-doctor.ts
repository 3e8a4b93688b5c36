import { styleText } from "node:util";
import { loadAgents } from "./agents/load.ts";
import { createClient } from "./client/client.ts";
import { findServer } from "./cli-connect.ts";
import { describeConfig, loadConfig, type Config } from "./config.ts";
import { probeBackends } from "./models/probe.ts";
import { messageOf } from "./protocol/errors.ts";
import { checkInvariants } from "./store/invariants.ts";
import type { Database } from "./store/database.ts";
import { migrate } from "./store/migrate.ts";
import { openDatabase } from "./store/open.ts";
import { builtInTools } from "./tools/built-in.ts";
import { loadUserTools } from "./tools/user-tools.ts";

/** `trouble` makes the command exit with 1. */
type Finding = { readonly grade: "ok" | "note" | "trouble"; readonly about: string; readonly text: string };

/** Checks configuration, files, database and models, and says what it saw. Exit code 1 if something is wrong. */
export async function doctor(): Promise<number> {
  const config = loadConfig();
  const findings: Finding[] = [];
  for await (const finding of examine(config)) {
    findings.push(finding);
    const mark = {
      ok: styleText("green", "ok     "),
      note: styleText("yellow", "note   "),
      trouble: styleText("red", "trouble"),
    }[finding.grade];
    console.log(`${mark} ${finding.about.padEnd(10)} ${finding.text}`);
  }
  return findings.some(({ grade }) => grade === "trouble") ? 1 : 0;
}

async function* examine(config: Config): AsyncGenerator<Finding> {
  const set = describeConfig(config).filter(({ source }) => source !== "default");
  yield { grade: "ok", about: "config", text: `${config.file ?? "no file"}; ${set.length} values set` };
  for (const { path, value, source } of set)
    yield { grade: "ok", about: "config", text: `${path} = ${String(value)}  (${source})` };

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
  yield { grade: "ok", about: "tools", text: [...builtInTools, ...tools.tools].map(({ name }) => name).join(", ") };

  yield* examineModels(config);
  yield* examineDatabase(config);
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
async function* examineDatabase(config: Config): AsyncGenerator<Finding> {
  try {
    const running = await findServer(config);
    if (running) {
      const health = await createClient(running).health();
      yield { grade: "ok", about: "server", text: `${running.url} answers: ${JSON.stringify(health)}` };
      yield { grade: "note", about: "database", text: "held by the running server; stop it to check its rows" };
      return;
    }
    const database = await openDatabase({
      dataDirectory: config.data,
      ...(config.database === undefined ? {} : { url: config.database }),
      onStep: (text) => console.error(text),
    });
    try {
      yield* examineRows(database);
    } finally {
      await database.close();
    }
  } catch (error) {
    yield { grade: "trouble", about: "database", text: messageOf(error) };
  }
}

async function* examineRows(database: Database): AsyncGenerator<Finding> {
  await migrate(database);
  yield { grade: "ok", about: "database", text: `${database.kind}, ${database.label}` };
  for (const { name, broken } of await checkInvariants(database.query)) {
    yield {
      grade: broken === 0 ? "ok" : "trouble",
      about: "rows",
      text: broken === 0 ? name : `${name}: ${broken} rows break this`,
    };
  }
}
