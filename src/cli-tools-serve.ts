import { loadConfig } from "./config.ts";
import { createLog } from "./log.ts";
import { startToolsServer } from "./main-tools-server.ts";
import { InvalidInput } from "./protocol/errors.ts";

export type ToolsServeOptions = {
  /** 10006 when absent, unless the configuration says another. */
  readonly port?: string;
  /** 127.0.0.1 when absent. */
  readonly host?: string;
};

/** `colloquy tools serve`: the tools of this machine, until SIGINT or SIGTERM. */
export async function serveToolsServer({ port: given, host }: ToolsServeOptions): Promise<number> {
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
  const signal = await new Promise<string>((resolve) => {
    for (const each of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(each, () => resolve(each));
  });
  for (const each of ["SIGINT", "SIGTERM"] as const) process.on(each, () => process.exit(130));
  log.info({ signal }, "stopping: calls at work may finish");
  await server.stop();
  return 0;
}
