import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createAccountClient } from "../client/account.ts";
import { displayEnvironment, hasDisplay, loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { Conflict } from "../protocol/base/errors.ts";
import { connect } from "./connect.ts";

/** `colloquy open`: a link for a browser, which opens by itself where there is a display. */
export async function openPage(): Promise<number> {
  const config = loadConfig();
  if (config.auth.mode !== "local")
    throw new Conflict("No link needed: with auth.mode accounts, people log in.", { code: "no_links" });
  const { server, isOwn, close } = await connect(config, { runsJobs: false });
  try {
    const { code, expiresAt } = await createAccountClient(server).makeOpenCode();
    const link = openLink(config, isOwn ? configuredUrl(config) : server.url, code);
    console.error(`Open this link to manage this server from one browser. It works once, until ${expiresAt}:`);
    console.log(link);
    openBrowser(config, link);
    return 0;
  } finally {
    await close();
  }
}

/** On PostgreSQL a command is a node of its own, and does not know where others listen. */
function configuredUrl({ server: { host, port } }: Config): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The code stands behind the `#`, so that no request and no log has it. */
export function openLink({ server: { publicUrl, basePath } }: Config, url: string, code: string): string {
  return `${publicUrl ?? url}${basePath}/#open=${code}`;
}

/**
 * Opens a link where somebody sees it. The browser is given a file that only this user can read: everybody may see what programs
 * are started with.
 */
export function openBrowser(config: Config, link: string): void {
  if (!config.auth.openBrowser || !process.stdout.isTTY || !hasDisplay()) return;
  const file = join(config.data, "open.html");
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${link}"><a href="${link}">Colloquy</a>\n`;
  writeFileSync(file, page, { mode: 0o600 });
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  spawn(program, [pathToFileURL(file).href], { stdio: "ignore", detached: true, env: displayEnvironment() })
    // Whoever has no such program opens the link by hand.
    .on("error", () => undefined)
    .unref();
}
