import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { asker, codeOf } from "./accounts.ts";
import { eachDatabase, type Place } from "./databases.ts";
import { temporaryFolder } from "./pglite.ts";

type LoginView = { readonly id: string; readonly label: string; readonly current: boolean };

/** Local mode where the kernel proves nothing, so that who comes in shows a key that stands in the database. */
eachDatabase((databases) => {
  let place: Place;
  let server: Colloquy;
  const start = async () => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: place.dataDirectory,
      ...(place.url !== undefined && { DATABASE_URL: place.url }),
      COLLOQUY_SECRET: "a secret of these tests",
      COLLOQUY_AUTH__LOCAL: "token",
      COLLOQUY_PROBE: "false",
      COLLOQUY_PORT: "0",
    };
    server = await startColloquy(loadConfig({ env, cwd: temporaryFolder("local-logins") }), { log: silentLog });
  };
  before(async () => {
    place = await databases.place();
    await start();
  });
  after(() => server.stop());
  afterEach(() => server.database.query("delete from web_sessions"));

  const ask: ReturnType<typeof asker> = (...asked) => asker(server.url)(...asked);
  const makeCode = async () =>
    (await ask<{ code: string }>("POST", "/api/auth/open-codes", { token: server.token })).body.code;
  const enter = (code: string, program: string) =>
    ask<{ token: string }>("POST", "/api/auth/open", {
      body: { code },
      headers: { "x-colloquy-page": "1", "user-agent": program },
    });
  const browser = async (program: string) => (await enter(await makeCode(), program)).body.token;
  const owns = async (token?: string) =>
    (await ask("GET", "/api/admin/settings", token === undefined ? {} : { token })).status;
  const logins = async (token: string) =>
    (await ask<{ data: LoginView[] }>("GET", "/api/auth/sessions", { token })).body.data;

  test("of several that use a code at once, one comes in as the owner's", async () => {
    assert.equal(await owns(), 403);
    const code = await makeCode();
    const entered = await Promise.all(["a", "b", "c", "d"].map((program) => enter(code, program)));
    const [first, ...others] = entered.toSorted((one, other) => one.status - other.status);
    assert.equal(first!.status, 201);
    assert.deepEqual(others.map(codeOf), ["link_over", "link_over", "link_over"]);
    assert.equal(await owns(first!.body.token), 200);
    assert.equal((await logins(server.token)).length, 1);
  });

  test("a code counts for ten minutes", async () => {
    const code = await makeCode();
    const { query } = server.database;
    const left = await query<{ minutes: number }>(
      "select round(extract(epoch from expires_at - now()) / 60)::int as minutes from account_links where purpose = 'open' and used_at is null",
    );
    assert.deepEqual(left, [{ minutes: 10 }]);
    await query("update account_links set expires_at = now() where purpose = 'open'");
    assert.equal(codeOf(await enter(code, "late")), "link_over");
    assert.deepEqual(await logins(server.token), []);
  });

  test("the keys of browsers are listed, taken back one by one or all but one's own, and outlast a restart", async () => {
    const [laptop, telephone, tablet] = [await browser("laptop"), await browser("telephone"), await browser("tablet")];
    const listed = await logins(laptop);
    assert.deepEqual(listed.map(({ label, current }) => `${label} ${current}`).sort(), [
      "laptop true",
      "tablet false",
      "telephone false",
    ]);
    const { id } = listed.find(({ label }) => label === "telephone")!;
    assert.equal((await ask("DELETE", `/api/auth/sessions/${id}`, { token: laptop })).status, 204);
    assert.deepEqual([await owns(laptop), await owns(telephone), await owns(tablet)], [200, 401, 200]);

    await server.stop();
    await start();
    assert.deepEqual([await owns(laptop), await owns(telephone), await owns(tablet)], [200, 401, 200]);
    assert.equal((await ask("DELETE", "/api/auth/sessions", { token: laptop })).status, 204);
    assert.deepEqual([await owns(laptop), await owns(tablet)], [200, 401]);
    assert.deepEqual(
      (await logins(laptop)).map(({ label }) => label),
      ["laptop"],
    );
  });
});
