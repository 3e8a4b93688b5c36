import assert from "node:assert/strict";
import { test } from "node:test";
import {
  askerScopes,
  coverAdmin,
  isForAdmins,
  isWord,
  permissionsOf,
  scopes,
  scopesFor,
  scopesOf,
  wordOf,
  wordsFor,
} from "./scopes.ts";

const adminScopes = scopes.filter((scope) => scope.startsWith("admin:"));

test("scopes: keys that were made before mean the same: no scope goes", () => {
  assert.deepEqual(scopes, [
    ...["ask", "threads:list", "threads:read", "threads:write", "threads:share", "threads:delete"],
    ...["tasks:read", "tasks:write", "schedules:read", "schedules:write", "files:read", "files:write"],
    ...["knowledge:read", "knowledge:write", "knowledge:delete", "usage:read", "admin:audit", "admin:definitions"],
    ...["admin:runs", "admin:settings", "admin:usage", "admin:users"],
  ]);
  assert.deepEqual(askerScopes, ["ask", "tasks:read", "tasks:write"]);
});

test("scopes: a key lets do what its words name, and areas of admins only for an admin", () => {
  for (const [words, role, expected] of [
    [[], "user", []],
    [["threads:list"], "user", ["threads:list"]],
    [["threads:*", "usage:read"], "user", [...scopes.filter((scope) => scope.startsWith("threads:")), "usage:read"]],
    [["*"], "user", scopes.filter((scope) => !adminScopes.includes(scope))],
    [["*"], "admin", scopes],
    [["admin:users"], "user", []],
    [["admin:users"], "admin", ["admin:users"]],
    [["agents:coder"], "user", ["ask"]],
    [["collections:Notes, old"], "user", ["ask"]],
    [["things:coder"], "user", []],
    [["toString:coder"], "user", []],
  ] as const)
    assert.deepEqual(scopesOf(words, role), expected, words.join(" "));
});

test("scopes: a key may ask what it names, or all with ask", () => {
  for (const [words, expected] of [
    [[], []],
    [["ask"], ["*"]],
    [["*"], ["*"]],
    [["agents:coder", "ask"], ["*"]],
    [["threads:list"], []],
    [
      ["agents:coder", "models:*"],
      ["agent:coder", "model:*"],
    ],
    [
      ["tools:now", "rooms:r"],
      ["tool:now", "room:r"],
    ],
    [["tasks.delete"], ["tasks.delete"]],
    [["knowledge:read"], ["collection:*"]],
    [["knowledge:read", "collections:notes"], ["collection:notes"]],
    [
      ["agents:coder", "knowledge:write"],
      ["agent:coder", "collection:*"],
    ],
    [["tools:knowledge:x"], ["tool:knowledge:x"]],
    [
      ["knowledge:read", "agents:collections:x"],
      ["agent:collections:x", "collection:*"],
    ],
  ] as const)
    assert.deepEqual(permissionsOf(words), expected, words.join(" "));
});

test("scopes: old words are read as today's", () => {
  for (const [text, word] of [
    ["admin", "admin:*"],
    ["agent:coder", "agents:coder"],
    ["collection:a\nb", "collections:a\nb"],
    ["agents:coder", "agents:coder"],
    ["threads:list", "threads:list"],
    ["constructor:x", "constructor:x"],
    ["agent:", "agent:"],
    ["my agent:coder", "my agent:coder"],
  ] as const)
    assert.equal(wordOf(text), word);
});

test("scopes: a word says something if it is a scope, a thing, or what a tool demands", () => {
  for (const word of ["ask", "threads:*", "agents:coder", "tasks.delete", "tasks.*"])
    assert.ok(isWord(word, ["now", "tasks.delete"]), word);
  for (const word of ["asks", "things:coder", "agents:", "tasks.delete"]) assert.ok(!isWord(word, ["now"]), word);
});

test("scopes: what a key can be given is listed", () => {
  const words = wordsFor(["agent:coder", "now"]);
  assert.deepEqual(words.slice(0, scopes.length), scopes);
  assert.deepEqual(words.slice(-2), ["agents:coder", "now"]);
  assert.deepEqual(words.slice(scopes.length, -2), [
    ...["threads:*", "tasks:*", "schedules:*", "files:*", "knowledge:*", "usage:*", "admin:*"],
    ...["agents:*", "models:*", "tools:*", "collections:*", "rooms:*"],
  ]);
});

test("scopes: a request is let in by what it needs", () => {
  assert.deepEqual((["nothing", "account", "ask", ["threads:read", "own"]] as const).map(scopesFor), [
    [],
    [],
    ["ask"],
    ["threads:read"],
  ]);
  assert.deepEqual((["nothing", "ask", "admin:users", ["admin:users"]] as const).map(isForAdmins), [
    false,
    false,
    true,
    false,
  ]);
  assert.ok(coverAdmin(adminScopes));
  assert.ok(!coverAdmin(adminScopes.slice(1)));
});
