import assert from "node:assert/strict";
import { test } from "node:test";
import { NotFound } from "./errors.ts";
import {
  asAdminHere,
  type Caller,
  callerOf,
  callerOfOldKey,
  cutBack,
  heldTo,
  holds,
  isAsker,
  mayDo,
  mayUse,
  permissionPattern,
  unseen,
  whoseRuns,
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
  assert.deepEqual(cutBack(caller(["*"]), user).permissions, user.permissions);
  assert.deepEqual(cutBack(caller(["mail", "secrets"]), user).permissions, ["mail"]);
  assert.equal(cutBack(caller(["*"]), user).role, "user");
});

test("who has become an admin gains nothing for what was begun before", () => {
  assert.deepEqual(cutBack(caller(["mail"]), admin).permissions, ["mail"]);
  assert.deepEqual(cutBack(caller(["*"]), admin).permissions, ["*"]);
  assert.equal(cutBack({ ...caller(["mail"]), role: "user" }, admin).role, "user");
});

test("where a caller works elsewhere stays with what was begun, whatever his role is now", () => {
  const begun = { ...caller(["*"]), elsewhere: { taiga: { place: "app", as: "t" } }, run: "r" };
  for (const now of [admin, user]) {
    const { elsewhere, run } = cutBack(begun, now);
    assert.deepEqual({ elsewhere, run }, { elsewhere: begun.elsewhere, run: "r" });
  }
});

test("a permission may be a glob, and the narrower of two remains", () => {
  assert.ok(holds(caller(["agent:*"]), ["agent:coder"]));
  assert.ok(!holds(caller(["agent:co*"]), ["agent:chat"]));
  assert.ok(!holds(caller(["agent:coder"]), ["agent:*"]));
  const now = { role: "user", permissions: ["agent:co*", "tool:now", "model:*"] } as const;
  assert.deepEqual(cutBack(caller(["agent:*", "tool:*", "model:gpt-5"]), now).permissions, [
    "model:gpt-5",
    "agent:co*",
    "tool:now",
  ]);
  assert.deepEqual(cutBack(caller(["agent:*r"]), now).permissions, [], "which agents are in both can't be said");
});

test("a key with scopes may what is among both, and is an admin's only if it says so", () => {
  const ada = { id: "u", name: "ada", ...admin };
  const narrow = callerOf(ada, "api-key", ["models:gpt*", "threads:r*"]);
  assert.deepEqual([narrow.role, narrow.permissions], ["user", ["model:gpt*"]]);
  assert.deepEqual(narrow.scopes, ["ask", "threads:read"], "who names what may be asked may ask");
  assert.equal(callerOf(ada, "api-key", ["admin:*"]).role, "admin");
  const some = callerOf(ada, "api-key", ["admin:users"]);
  assert.deepEqual([some.role, mayDo(some, "admin:users"), mayDo(some, "admin:runs")], ["user", true, false]);
  const bob = { ...ada, ...user };
  assert.ok(!mayDo(callerOf(bob, "api-key", ["admin:users"]), "admin:users"), "no more than the account");
  assert.deepEqual(callerOf(bob, "api-key", ["ask"]).permissions, user.permissions);
  assert.deepEqual(callerOf(bob, "api-key", ["threads:read"]).permissions, []);
});

test("no scope lets do what is the account's own, and no scopes let do all that the account may", () => {
  const ada = { id: "u", name: "ada", ...admin };
  const most = callerOf(ada, "api-key", ["ask", ...scopes]);
  assert.ok(!mayDo(most, "account") && mayDo(most, "admin:runs") && mayDo(most, "nothing"));
  assert.ok(mayDo(callerOf(ada, "session"), "account") && mayDo(callerOf(ada, "session"), "admin:runs"));
  assert.ok(!mayDo(callerOf({ ...ada, ...user }, "session"), "admin:runs"));
  const asker = callerOf(ada, "local", askerScopes);
  assert.deepEqual([asker.role, asker.permissions], ["user", ["*"]]);
  assert.deepEqual(heldTo(asker, ["threads:read", "own"]), asker, "all that it has was begun by asking");
  assert.equal(heldTo(asker, "threads:read"), undefined);
  assert.ok(mayDo(asker, "ask") && mayDo(asker, ["threads:write", "ask"]) && !mayDo(asker, "threads:list"));
  const old = callerOfOldKey(ada, ["agent:a*", "admin"]);
  assert.deepEqual([old.role, old.permissions, mayDo(old, "threads:share")], ["admin", ["agent:a*", "admin"], true]);
  assert.ok(!mayDo(old, "account") && !mayDo(callerOfOldKey(ada, ["agent:a*"]), "admin:runs"));
});

test("a key that may ask is held to what it began, unless it may write in all threads", () => {
  const ada = { id: "u", name: "ada", ...admin };
  const key = (...words: string[]): Caller => ({ ...callerOf(ada, "api-key", words), key: "k" });
  const asks = key("ask");
  const held = { ...asks, only: "k" };
  assert.deepEqual(heldTo(asks, "ask"), held);
  assert.deepEqual(heldTo(asks, ["threads:read", "own"]), held);
  assert.equal(heldTo(asks, ["threads:read"]), undefined);
  assert.equal(heldTo(asks, "threads:read"), undefined);
  assert.deepEqual(heldTo(held, ["threads:read", "ask"]), asks, "what it may in all is not held");

  const writes = key("ask", "threads:write");
  assert.deepEqual(heldTo(writes, "ask"), writes);
  const reads = key("tasks:read");
  assert.deepEqual(heldTo(reads, "tasks:read"), reads);
  assert.equal(heldTo(reads, "ask"), undefined);
  assert.equal(heldTo(reads, ["threads:read", "own"]), undefined, "it began nothing");
  const whole: Caller = { ...callerOf(ada, "api-key"), key: "k" };
  assert.deepEqual(heldTo(whole, "ask"), whole);
  const unkeyed = callerOf(ada, "session", ["ask"]);
  assert.deepEqual(heldTo(unkeyed, "ask"), unkeyed, "there is no key to hold it to");
  assert.equal(heldTo(unkeyed, ["threads:read", "own"]), undefined);
  assert.equal(heldTo(callerOf(ada, "local", askerScopes), ["threads:read"]), undefined);
});

test("no key does what is the account's own, and every account all that is not for admins", () => {
  assert.ok(!mayDo({ role: "admin", key: "k" }, "account"));
  assert.ok(mayDo({ role: "admin", key: "k" }, "ask"));
  assert.ok(mayDo({ role: "user" }, "account") && mayDo({ role: "user" }, "ask"));
  assert.ok(mayDo(callerOfOldKey({ id: "u", name: "ada", ...admin }, ["agent:a*"]), "threads:share"));
});

test("an asker is who came in locally with scopes", () => {
  assert.ok(isAsker({ via: "local", scopes: ["ask"] }));
  assert.ok(!isAsker({ via: "local" }) && !isAsker({ via: "session", scopes: ["ask"] }));
});

test("an admin of one area is one there, as who it is", () => {
  const ada = { ...caller(["mail"]), role: "user" } as const;
  assert.deepEqual(asAdminHere(ada), { ...ada, role: "admin" });
  assert.equal(cutBack(caller(["*"]), admin).role, "admin", "an admin of then and now stays one");
});

test("what is not there is told as that, but to a key that is held to its own", () => {
  const absent = new NotFound("There is no run.", { code: "run_not_found" });
  assert.equal(unseen({}, absent), absent);
  const { code, status } = unseen({ only: "k" }, absent);
  assert.deepEqual({ code, status }, { code: "insufficient_scope", status: 403 });
});

test("whose runs: one's own, everybody's for an admin, and of a room's authority those of the one it is for", () => {
  const ada = { userId: "u", role: "user" } as const;
  const authority = { room: "r", userId: "b", why: "decides for the room" } as const;
  assert.deepEqual(
    [whoseRuns(ada), whoseRuns({ ...ada, role: "admin" }), whoseRuns({ ...ada, authority })],
    ["u", undefined, "b"],
  );
  assert.equal(whoseRuns({ ...ada, role: "admin", authority }), "b", "an admin in a room acts for the room");
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
