import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { once } from "node:events";
import { asker } from "./accounts.ts";
import { createClient } from "../src/client/client.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { loadConfig } from "../src/config/load.ts";
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

const user = (...args: string[]) => userWith(undefined, ...args);

async function userWith(
  input: string | undefined,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const cli = join(import.meta.dirname, "../src/cli.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", cli, "user", ...args], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(input);
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

  const second = createClient({
    url: colloquy.url,
    token: (await user("keys", "ada", "--add", "laptop", "--scopes", "*")).out.trim(),
  });
  await second.threads();
  const listed = (await user("keys", "ada")).out;
  assert.match(listed, /^\S+\tfirst\t\*\tcreated \S+\tused \d{4}-.*\n\S+\tlaptop\t\*\tcreated \S+\tused \d{4}-.*\n$/);
  const [, id] = /^(\S+)\tlaptop/m.exec(listed)!;
  assert.equal((await user("revoke", id!)).code, 0);
  await assert.rejects(second.threads(), { status: 401, code: "invalid_api_key" });
  await ada.threads();
  assert.match((await user("keys", "ada")).out, /laptop\t.*\trevoked \d{4}-/);

  const refused = await user("disable", "owner");
  assert.match(refused.err, /owner is the last active admin/);
  assert.equal(refused.code, 1);
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test("a new account's key ends after 90 days, may what is said, and both are told beside it", async () => {
  const usual = await user("add", "ann");
  assert.match(usual.out, /^ck_\w{40}\n$/);
  assert.equal(
    usual.err,
    `API key for ann (shown only once). Scopes: * (everything ann may do). Expires ${inDays(90)}.\n` +
      "To limit a key: --scopes agents:assistant. To change its expiry: --days 30 or --days never.\n",
  );
  const narrow = await user("add", "abe", "--scopes", "agents:assistant, threads:read", "--days", "7");
  assert.equal(
    narrow.err,
    `API key for abe (shown only once). Scopes: agents:assistant threads:read. Expires ${inDays(7)}.\n`,
  );
  const abe = createClient({ url: colloquy.url, token: narrow.out.trim() });
  await assert.rejects(abe.threads(), { status: 403, code: "insufficient_scope" });
  assert.match((await user("keys", "abe")).out, new RegExp(`\\texpires ${inDays(7)}T\\S+\\n$`));

  const endless = await user("keys", "abe", "--add", "robot", "--scopes", "agents:*", "--days", "never");
  assert.equal(endless.err, "API key for abe (shown only once). Scopes: agents:*. Never expires.\n");
  const second = await user("keys", "abe", "--add", "laptop", "--scopes", "agents:*");
  assert.match(second.err, new RegExp(`Expires ${inDays(90)}\\.\n`));
});

test("a mistyped scope or number of days makes no account and no key", async () => {
  const mistyped = await user("add", "zoe", "--scopes", "agent_assistant");
  assert.deepEqual([mistyped.code, mistyped.out], [1, ""]);
  assert.match(mistyped.err, /^colloquy: "agent_assistant" .*Did you mean agents:assistant\?/m);
  for (const days of ["0", "-1", "soon", "1e9", ""]) {
    const { code, err } = await user("add", "zoe", `--days=${days}`);
    assert.deepEqual([code, err.split(",")[0]], [1, "colloquy: --days must be a number from 1 to 3660"], days);
  }
  assert.match((await user("add", "zoe", "--scopes", "")).err, /^colloquy: Add scopes for the key/m);
  assert.doesNotMatch((await user("list")).out, /zoe/);
  const keys = (await user("keys", "owner")).out;
  assert.equal((await user("keys", "owner", "--add", "x", "--scopes", "agent_assistant")).code, 1);
  assert.equal((await user("keys", "owner")).out, keys);
});

const password = "correct horse";
const logIn = (url: string, username: string) =>
  asker(url)<{ access_token: string }>("POST", "/api/auth/login", { body: { username, password } });

test("a person is erased from the command line, with their name said twice", async () => {
  const key = (await user("add", "eve")).out.trim();
  const eve = createClient({ url: colloquy.url, token: key });
  await eve.threads();
  const unsure = await user("erase", "eve");
  assert.equal(unsure.code, 1);
  assert.match(
    unsure.err,
    /permanently deletes eve's account .* To confirm, run: \.\/colloquy user erase eve --confirm eve/,
  );
  await eve.threads();
  const erased = await user("erase", "eve", "--confirm", "eve");
  assert.deepEqual([erased.code, erased.err], [0, ""]);
  assert.match(erased.out, /^erased \(record [0-9a-f-]{36}\)\n$/);
  await assert.rejects(eve.threads(), { status: 401 });
  assert.match((await user("erase", "eve", "--confirm", "eve")).err, /User eve not found/);
});

test("a password is set by a link that a command makes, or by the command itself", async () => {
  await user("add", "eva");
  const made = await user("reset", "eva");
  assert.match(made.err, /eva can set a new password with this link, once, until 20/);
  const [, token] = /^http:\/\/\S+\/reset#(\S+)\n$/.exec(made.out)!;
  assert.equal((await asker(colloquy.url)("POST", "/api/auth/reset", { body: { token, password } })).status, 204);
  const { body } = await logIn(colloquy.url, "eva");
  assert.equal((await userWith(`${password} battery\n`, "reset", "eva", "--stdin")).code, 0);
  assert.equal((await asker(colloquy.url)("GET", "/api/auth/me", { token: body.access_token })).status, 401);
  assert.equal((await logIn(colloquy.url, "eva")).status, 401);
});

test("accounts are made, reset and listed while no server runs, and the first start offers the first admin", async () => {
  const own = { ...env, COLLOQUY_DATA: await freshDataDirectory() };
  const alone = async (input: string | undefined, ...args: string[]) => {
    const before = env;
    env = own;
    try {
      return await userWith(input, ...args);
    } finally {
      env = before;
    }
  };
  const start = () => startColloquy(loadConfig({ env: own, cwd }), { log: silentLog });
  const first = await start();
  const link = await first.setupLink();
  assert.match(link!, /^http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{75}$/);
  await first.stop();

  const key = (await alone(undefined, "add", "ada", "--admin")).out.trim();
  assert.equal(
    (await alone(`${password}\n`, "reset", "ada", "--stdin")).out,
    "Password of ada changed; logged out everywhere\n",
  );
  assert.equal((await alone(undefined, "list")).out, "ada\tadmin\nowner\tadmin\n");

  const second = await start();
  assert.equal((await logIn(second.url, "ada")).status, 200);
  await createClient({ url: second.url, token: key }).threads();
  assert.equal(await second.setupLink(), undefined, "there is an admin who can log in");
  await second.stop();
});

test("the link that makes the first admin outlives a restart, and works once", async () => {
  const own = { ...env, COLLOQUY_DATA: await freshDataDirectory() };
  const start = () => startColloquy(loadConfig({ env: own, cwd }), { log: silentLog });
  const tokenIn = (link: string | undefined) => link!.split("#")[1]!;
  const first = await start();
  const token = tokenIn(await first.setupLink());
  await first.stop();
  const second = await start();
  assert.equal(tokenIn(await second.setupLink()), token);
  const setUp = () =>
    asker(second.url)<{ user: { role: string } }>("POST", "/api/auth/setup", {
      body: { token, username: "ada", password },
    });
  assert.equal((await setUp()).body.user.role, "admin");
  assert.equal((await setUp()).status, 400);
  assert.equal(await second.setupLink(), undefined);
  await second.stop();
});
