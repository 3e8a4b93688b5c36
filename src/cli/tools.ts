import { stopSignal } from "./stop-signal.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { listen } from "../http/server/listen.ts";
import { createTodoApp } from "../http/mcp/todo-app.ts";
import { createTaskCalls } from "../tools/basic/task-calls.ts";
import type { Access } from "../http/server/services.ts";
import { createLog } from "../app/log.ts";
import { callerOf } from "../protocol/base/callers.ts";
import { Conflict, AccessDenied, InvalidInput } from "../protocol/base/errors.ts";
import { version } from "../protocol/base/version.ts";
import { createKeyFinder } from "../store/people/api-keys.ts";
import type { Database } from "../store/driver/database.ts";
import { refuseHalfImported } from "../store/moving/import.ts";
import { readHolder } from "../store/driver/lock.ts";
import { migrate } from "../store/schema/migrate.ts";
import { postgresOf } from "../app/store.ts";
import { openDatabase } from "../store/driver/open.ts";
import { createUser, ensureOwner, findUserByName } from "../store/people/users.ts";
import { startToolsServer } from "../app/tools-server.ts";

export type ToolsOptions = {
  /** Of `todo` 8001 when absent. */
  readonly port?: string;
  /** Of `serve`. */
  readonly host?: string;
  /** Whose tasks they are, for whoever reaches the server. */
  readonly user?: string;
  /** A URL, instead of the configuration's. */
  readonly database?: string;
};

const defaultPort = "8001";

/** `colloquy tools serve` and `colloquy tools todo`: tools as a server of their own, until SIGINT or SIGTERM. */
export async function serveTools([name, ...rest]: readonly string[], options: ToolsOptions): Promise<number> {
  if (name === "serve" && rest.length === 0) return serveToolsServer(options);
  if (name === "todo" && rest.length === 0) return serveTodo(options);
  throw new InvalidInput(
    "./colloquy tools serve [--port 10006] [--host 127.0.0.1], or ./colloquy tools todo [--port 8001] [--user <name>] [--database <url>]",
  );
}

/** The task tools alone, as an MCP server. */
async function serveTodo(options: ToolsOptions): Promise<number> {
  const port = Number(options.port ?? defaultPort);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidInput("--port must be 0 to 65535.");
  const config = loadConfig();
  const log = createLog({ level: config.log.level, pretty: process.stderr.isTTY });
  const database = await open(config, options.database);
  try {
    await refuseHalfImported(database.query);
    await migrate(database.maintenance);
    const access = await accessOf(config, database, options.user);
    const { corsOrigins, hosts } = config.server;
    const app = createTodoApp({
      tasks: createTaskCalls(database),
      access,
      server: { corsOrigins, hosts },
      log,
      version,
    });
    // Nobody logs in, so nobody but this machine may come.
    const host = access.mode === "local" ? "127.0.0.1" : config.server.host;
    const url = await listen(app, { host, port, advice: "./colloquy tools todo --port 8011" });
    const whose = access.mode === "local" ? `Tasks of ${access.owner.name}` : "Each account's own tasks";
    console.log(`${whose}, in ${database.label}: listening on ${url}/mcp`);
    const signal = await stopSignal();
    log.info({ signal }, "stopping");
    await app.close();
  } finally {
    await database.close();
  }
  return 0;
}

async function open(config: Config, url: string | undefined): Promise<Database> {
  try {
    return await openDatabase({
      ...postgresOf(config),
      dataDirectory: config.data,
      onStep: (text) => console.error(text),
      ...(url === undefined ? {} : { url }),
    });
  } catch (error) {
    if (!(error instanceof Conflict) || error.code !== "data_in_use") throw error;
    const holder = readHolder(config.data);
    const where = holder?.url === undefined ? "" : ` The server there has the same tools at ${holder.url}/mcp/todo.`;
    throw new Conflict(`${error.message}${where}`, { code: error.code, cause: error });
  }
}

async function accessOf({ auth }: Config, database: Database, name: string | undefined): Promise<Access> {
  const { query } = database;
  if (name === undefined && auth.mode === "accounts")
    return { mode: "accounts", findByKey: createKeyFinder(query).findByKey };
  if (name === undefined) return { mode: "local", owner: callerOf(await ensureOwner(query), "local"), owning: "open" };
  const user = (await findUserByName(query, name)) ?? (await createUser(query, { name, role: "user" }));
  if (user.disabled) throw new AccessDenied(403, `The account ${name} is disabled.`, { code: "account_disabled" });
  return { mode: "local", owner: callerOf(user, "local"), owning: "open" };
}

type ToolsServeOptions = {
  /** 10006 when absent, unless the configuration says another. */
  readonly port?: string;
  /** 127.0.0.1 when absent. */
  readonly host?: string;
};

/** `colloquy tools serve`: the tools of this machine, until SIGINT or SIGTERM. */
async function serveToolsServer({ port: given, host }: ToolsServeOptions): Promise<number> {
  const port = given === undefined ? undefined : Number(given);
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535))
    throw new InvalidInput("--port must be 0 to 65535.");
  const config = loadConfig();
  const log = createLog({ level: config.log.level, pretty: process.stderr.isTTY });
  const server = await startToolsServer(config, { host, port, log });
  for (const { file, message } of server.problems) console.error(`problem: ${file}: ${message}`);
  const { driver, grade } = server.sandbox;
  console.log(`${server.tools.length} tools: ${server.tools.join(", ")}`);
  console.log(`sandbox: ${driver} (${grade})`);
  console.log(`listening on ${server.url}`);
  const signal = await stopSignal();
  log.info({ signal }, "stopping: running calls may finish");
  await server.stop();
  return 0;
}
