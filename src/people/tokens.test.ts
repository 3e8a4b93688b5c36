import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { anyDatabase } from "../../test/databases.ts";
import { newId } from "../protocol/base/ids.ts";
import type { Database } from "../store/driver/database.ts";
import { listSigningKeys } from "../store/secrets/signing-keys.ts";
import { createTokens } from "./tokens.ts";

const hourMs = 60 * 60_000;
const secret = "a secret of tests";

anyDatabase((databases) => {
  let database: Database;
  before(async () => {
    database = await databases.open();
  });
  const login = (ms = hourMs) => ({ sessionId: newId(), userId: newId(), expiresAt: new Date(Date.now() + ms) });
  const make = (options: { secret?: string; rotateMs?: number } = {}) =>
    createTokens(database.query, { secret, lifeMs: hourMs, ...options });

  test("a token is read by every node that has the secret, until it is over", async () => {
    const content = login();
    const token = await make().sign(content);
    // To the second.
    const expiresAt = new Date(Math.floor(content.expiresAt.getTime() / 1000) * 1000);
    assert.deepEqual(await make().read(token), { sessionId: content.sessionId, expiresAt });
    assert.equal(await make({ secret: "another secret" }).read(token), undefined);
    assert.equal(await make().read(await make().sign(login(-1000))), undefined);
    const [row] = await database.query<{ sealed: string }>("select sealed from signing_keys");
    const [key] = await listSigningKeys(database.query, secret);
    assert.ok(!row!.sealed.includes(Buffer.from(key!.bytes).toString("base64url")));
  });

  test("a forged token is none: changed, unsigned, of another algorithm or key, or with no end", async () => {
    const tokens = make();
    const token = await tokens.sign(login());
    const [header = "", payload = "", signature = ""] = token.split(".");
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
    const [key] = await listSigningKeys(database.query, secret);
    const signed = (head: object, body: object, bytes = key!.bytes, hash = "sha256") => {
      const text = `${encode(head)}.${encode(body)}`;
      return `${text}.${createHmac(hash, bytes).update(text).digest("base64url")}`;
    };
    const [head, body] = [decode(header), decode(payload)];
    assert.ok(await tokens.read(signed(head, body)), "signed by hand it is a token");
    const forged = {
      "another user": `${header}.${encode({ ...body, sub: newId() })}.${signature}`,
      "alg none": `${encode({ ...head, alg: "none" })}.${payload}.`,
      "alg none with a signature": `${encode({ ...head, alg: "none" })}.${payload}.${signature}`,
      "another algorithm": signed({ ...head, alg: "HS512" }, body, key!.bytes, "sha512"),
      "a key of their own": signed(head, body, Buffer.from("theirs")),
      "an empty key": signed(head, body, Buffer.alloc(0)),
      "an unknown key": signed({ ...head, kid: "theirs" }, body),
      "no key's name": signed({ alg: "HS256" }, body),
      "no end": signed(head, { ...body, exp: undefined }),
      "no session": signed(head, { ...body, jti: undefined }),
      "another issuer": signed(head, { ...body, iss: "elsewhere" }),
      "not yet": signed(head, { ...body, nbf: Math.floor(Date.now() / 1000) + 1000 }),
      "half a token": `${header}.${payload}`,
      nonsense: "a.b.c",
    };
    for (const [what, text] of Object.entries(forged)) assert.equal(await tokens.read(text), undefined, what);
  });

  test("keys rotate: tokens of the one before count until they are over, and then the key goes", async () => {
    const day = () => make({ rotateMs: 24 * hourMs });
    const keyIds = async () => (await listSigningKeys(database.query, secret)).map(({ id }) => id);
    const age = (hours: number, id: string) =>
      database.query("update signing_keys set created_at = now() - $1 * interval '1 hour' where id = $2", [hours, id]);
    const old = await day().sign(login());
    const [oldKey = ""] = await keyIds();
    await age(24.1, oldKey);
    await day().rotate();
    const [newKey = "", ...others] = await keyIds();
    assert.deepEqual(others, [oldKey]);
    assert.ok(await day().read(old));
    assert.ok(Buffer.from((await day().sign(login())).split(".")[0]!, "base64url").includes(newKey));
    await age(25.1, oldKey);
    await day().rotate();
    assert.deepEqual(await keyIds(), [newKey]);
    assert.equal(await day().read(old), undefined, "of a key that is gone");
  });

  test("a key that another node has made is found, but not looked for with each forgery", async () => {
    const [here, there] = [make(), make()];
    assert.ok(await here.read(await here.sign(login())));
    await database.query("delete from signing_keys");
    const token = await there.sign(login());
    let reads = 0;
    database.onTrip = () => reads++;
    for (let tries = 0; tries < 20; tries++) await here.read(token.replace(/^[^.]*/, token.split(".")[1]!));
    assert.ok(reads <= 2, `${reads} reads`);
    database.onTrip = undefined;
    while (!(await here.read(token))) await sleep(10);
  });
});
