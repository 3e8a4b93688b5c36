import assert from "node:assert/strict";
import { test } from "node:test";
import { NotFound } from "./errors.ts";
import {
  asAreaAdmin,
  type Caller,
  callerOf,
  callerOfOldKey,
  intersectRights,
  restrictTo,
  hasPermissions,
  isAsker,
  hasScope,
  mayUse,
  permissionPattern,
  hiddenError,
  serverCaller,
  controllableRuns,
} from "./callers.ts";
import { askerScopes, scopes } from "./scopes.ts";

const caller = (permissions: readonly string[]): Caller => ({
  userId: "u",
  name: "ada",
  role: "admin",
  permissions,
  via: "api-key",
});

const admin = { role: "admin", permissions: ["*"] } as const;
const user = { role: "user", permissions: ["agent:*", "mail"] } as const;

test("who was an admin and is none now, may no more than a user", () => {
  assert.deepEqual(intersectRights(caller(["*"]), user).permissions, user.permissions);
  assert.deepEqual(intersectRights(caller(["mail", "secrets"]), user).permissions, ["mail"]);
  assert.equal(intersectRights(caller(["*"]), user).role, "user");
});

test("who has become an admin gains nothing for what was begun before", () => {
  assert.deepEqual(intersectRights(caller(["mail"]), admin).permissions, ["mail"]);
  assert.deepEqual(intersectRights(caller(["*"]), admin).permissions, ["*"]);
  assert.equal(intersectRights({ ...caller(["mail"]), role: "user" }, admin).role, "user");
});

test("where a caller works elsewhere stays with what was begun, whatever his role is now", () => {
  const begun = { ...caller(["*"]), elsewhere: { taiga: { place: "app", as: "t" } }, run: "r" };
  for (const now of [admin, user]) {
    const { elsewhere, run } = intersectRights(begun, now);
    assert.deepEqual({ elsewhere, run }, { elsewhere: begun.elsewhere, run: "r" });
  }
});

test("a permission may be a glob, and the narrower of two remains", () => {
  assert.ok(hasPermissions(caller(["agent:*"]), ["agent:coder"]));
  assert.ok(!hasPermissions(caller(["agent:co*"]), ["agent:chat"]));
  assert.ok(!hasPermissions(caller(["agent:coder"]), ["agent:*"]));
  const now = { role: "user", permissions: ["agent:co*", "tool:now", "model:*"] } as const;
  assert.deepEqual(intersectRights(caller(["agent:*", "tool:*", "model:gpt-5"]), now).permissions, [
    "model:gpt-5",
    "agent:co*",
    "tool:now",
  ]);
  assert.deepEqual(
    intersectRights(caller(["agent:*r"]), now).permissions,
    [],
    "which agents are in both can't be said",
  );
});

test("a key with scopes may what is among both, and is an admin's only if it says so", () => {
  const ada = { id: "u", name: "ada", ...admin };
  const narrow = callerOf(ada, "api-key", ["models:gpt*", "threads:r*"]);
  assert.deepEqual([narrow.role, narrow.permissions], ["user", ["model:gpt*"]]);
  assert.deepEqual(narrow.scopes, ["ask", "threads:read"], "who names what may be asked may ask");
  assert.equal(callerOf(ada, "api-key", ["admin:*"]).role, "admin");
  const some = callerOf(ada, "api-key", ["admin:users"]);
  assert.deepEqual([some.role, hasScope(some, "admin:users"), hasScope(some, "admin:runs")], ["user", true, false]);
  const bob = { ...ada, ...user };
  assert.ok(!hasScope(callerOf(bob, "api-key", ["admin:users"]), "admin:users"), "no more than the account");
  assert.deepEqual(callerOf(bob, "api-key", ["ask"]).permissions, user.permissions);
  assert.deepEqual(callerOf(bob, "api-key", ["threads:read"]).permissions, []);
});

test("no scope lets do what is the account's own, and no scopes let do all that the account may", () => {
  const ada = { id: "u", name: "ada", ...admin };
  const most = callerOf(ada, "api-key", ["ask", ...scopes]);
  assert.ok(!hasScope(most, "account") && hasScope(most, "admin:runs") && hasScope(most, "nothing"));
  assert.ok(hasScope(callerOf(ada, "session"), "account") && hasScope(callerOf(ada, "session"), "admin:runs"));
  assert.ok(!hasScope(callerOf({ ...ada, ...user }, "session"), "admin:runs"));
  const asker = callerOf(ada, "local", askerScopes);
  assert.deepEqual([asker.role, asker.permissions], ["user", ["*"]]);
  assert.deepEqual(restrictTo(asker, ["threads:read", "own"]), asker, "all that it has was begun by asking");
  assert.equal(restrictTo(asker, "threads:read"), undefined);
  assert.ok(hasScope(asker, "ask") && hasScope(asker, ["threads:write", "ask"]) && !hasScope(asker, "threads:list"));
  const old = callerOfOldKey(ada, ["agent:a*", "admin"]);
  assert.deepEqual([old.role, old.permissions, hasScope(old, "threads:share")], ["admin", ["agent:a*", "admin"], true]);
  assert.ok(!hasScope(old, "account") && !hasScope(callerOfOldKey(ada, ["agent:a*"]), "admin:runs"));
});

test("a key that may ask is held to what it began, unless it may write in all threads", () => {
  const ada = { id: "u", name: "ada", ...admin };
  const key = (...words: string[]): Caller => ({ ...callerOf(ada, "api-key", words), key: "k" });
  const asks = key("ask");
  const held = { ...asks, only: "k" };
  assert.deepEqual(restrictTo(asks, "ask"), held);
  assert.deepEqual(restrictTo(asks, ["threads:read", "own"]), held);
  assert.equal(restrictTo(asks, ["threads:read"]), undefined);
  assert.equal(restrictTo(asks, "threads:read"), undefined);
  assert.deepEqual(restrictTo(held, ["threads:read", "ask"]), asks, "what it may in all is not held");

  const writes = key("ask", "threads:write");
  assert.deepEqual(restrictTo(writes, "ask"), writes);
  const reads = key("tasks:read");
  assert.deepEqual(restrictTo(reads, "tasks:read"), reads);
  assert.equal(restrictTo(reads, "ask"), undefined);
  assert.equal(restrictTo(reads, ["threads:read", "own"]), undefined, "it began nothing");
  const whole: Caller = { ...callerOf(ada, "api-key"), key: "k" };
  assert.deepEqual(restrictTo(whole, "ask"), whole);
  const unkeyed = callerOf(ada, "session", ["ask"]);
  assert.deepEqual(restrictTo(unkeyed, "ask"), unkeyed, "there is no key to hold it to");
  assert.equal(restrictTo(unkeyed, ["threads:read", "own"]), undefined);
  assert.equal(restrictTo(callerOf(ada, "local", askerScopes), ["threads:read"]), undefined);
});

test("no key does what is the account's own, and every account all that is not for admins", () => {
  assert.ok(!hasScope({ role: "admin", key: "k" }, "account"));
  assert.ok(hasScope({ role: "admin", key: "k" }, "ask"));
  assert.ok(hasScope({ role: "user" }, "account") && hasScope({ role: "user" }, "ask"));
  const old = callerOfOldKey({ id: "b", name: "bob", ...user }, ["admin"]);
  assert.deepEqual([old.role, hasScope(old, "admin:runs")], ["user", false], "no more than its account");
  assert.ok(hasScope(callerOfOldKey({ id: "u", name: "ada", ...admin }, ["agent:a*"]), "threads:share"));
});

test("the server may use all that there is, as whom it works for", () => {
  const bob = { id: "b", name: "bob", ...user };
  assert.deepEqual(serverCaller(bob), { userId: "b", name: "bob", role: "user", permissions: ["*"], via: "system" });
});

test("an asker is who came in locally with scopes", () => {
  assert.ok(isAsker({ via: "local", scopes: ["ask"] }));
  assert.ok(!isAsker({ via: "local" }) && !isAsker({ via: "session", scopes: ["ask"] }));
});

test("an admin of one area is one there, as who it is", () => {
  const ada = { ...caller(["mail"]), role: "user" } as const;
  assert.deepEqual(asAreaAdmin(ada), { ...ada, role: "admin" });
  assert.equal(intersectRights(caller(["*"]), admin).role, "admin", "an admin of then and now stays one");
});

test("what is not there is told as that, but to a key that is held to its own", () => {
  const absent = new NotFound("There is no run.", { code: "run_not_found" });
  assert.equal(hiddenError({}, absent), absent);
  const { code, status } = hiddenError({ only: "k" }, absent);
  assert.deepEqual({ code, status }, { code: "insufficient_scope", status: 403 });
});

test("whose runs: one's own, everybody's for an admin, and of a room's authority those of the one it is for", () => {
  const ada = { userId: "u", role: "user" } as const;
  const authority = { room: "r", userId: "b", why: "decides for the room" } as const;
  assert.deepEqual(
    [controllableRuns(ada), controllableRuns({ ...ada, role: "admin" }), controllableRuns({ ...ada, authority })],
    ["u", undefined, "b"],
  );
  assert.equal(controllableRuns({ ...ada, role: "admin", authority }), "b", "an admin in a room acts for the room");
});

test("things of each kind are granted by name or glob, collections and rooms by whatever they are called", () => {
  const granted = caller(["collection:Handbuch *", "room:debate", "agent:*"]);
  assert.ok(mayUse(granted, "collection", "Handbuch Öl & Gas"));
  assert.ok(!mayUse(granted, "collection", "Payroll"));
  assert.ok(!mayUse(granted, "room", "Handbuch x"), "of another kind");
  assert.ok(mayUse(granted, "room", "debate") && !mayUse(granted, "room", "*") && mayUse(granted, "agent", "*"));
  assert.ok(!mayUse(granted, "model", "gpt"));
  const key = callerOf({ id: "u", name: "ada", role: "user", permissions: ["collection:*"] }, "api-key", [
    "collections:a",
  ]);
  assert.ok(mayUse(key, "collection", "a") && !mayUse(key, "collection", "b"));

  for (const name of ["agent:coder", "*", "mail", "collection:*", "collection:Handbuch Öl & Gas", "room:a"])
    assert.match(name, permissionPattern);
  for (const name of [
    "",
    " ",
    "a b",
    "agent:a b",

    "collection: a",
    "collection:a ",
    "collection:a\0b",
    "room:\n",
  ])
    assert.doesNotMatch(name, permissionPattern);
});
