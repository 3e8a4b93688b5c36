import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { once } from "node:events";
import { createClient } from "../src/client/client.ts";
import { silentLog } from "../src/protocol/log.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { loadConfig } from "../src/config.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

let cwd: string;
let env: Record<string, string>;
let colloquy: Colloquy;

before(async () => {
  cwd = temporaryFolder("cli");
  env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_AUTH__MODE: "accounts",
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
  };
  colloquy = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
});
after(() => colloquy.stop());

async function user(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const cli = join(import.meta.dirname, "../src/cli.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", cli, "user", ...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, out, err };
}

test("accounts are disabled and keys revoked from the command line, at once for the server that runs", async () => {
  const key = (await user("add", "ada")).out.trim();
  const ada = createClient({ url: colloquy.url, token: key });
  await ada.threads();

  assert.equal((await user("disable", "ada")).out, "ada\tuser\tdisabled\n");
  await assert.rejects(ada.threads(), { status: 401, code: "account_disabled" });
  assert.equal((await user("enable", "ada")).out, "ada\tuser\n");
  await ada.threads();

  const second = createClient({ url: colloquy.url, token: (await user("keys", "ada", "--add", "laptop")).out.trim() });
  await second.threads();
  const listed = (await user("keys", "ada")).out;
  assert.match(listed, /^\S+\tfirst\tsince \S+\tused \d{4}-.*\n\S+\tlaptop\tsince \S+\tused \d{4}-.*\n$/);
  const [, id] = /^(\S+)\tlaptop/m.exec(listed)!;
  assert.equal((await user("revoke", id!)).code, 0);
  await assert.rejects(second.threads(), { status: 401, code: "invalid_api_key" });
  await ada.threads();
  assert.match((await user("keys", "ada")).out, /laptop\t.*\trevoked \d{4}-/);

  const refused = await user("disable", "owner");
  assert.match(refused.err, /owner is the last admin/);
  assert.equal(refused.code, 1);
});
