import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { ApprovalPolicy, ApprovalRules, Verdict } from "../../protocol/agents/approval.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { decisionAfterUntrusted, stricter, verdictOf } from "./approval.ts";

const tool = (effect: "read" | "write", more: { destructive?: boolean; unasked?: boolean; sendsOut?: boolean } = {}) =>
  defineTool({ name: "send", description: "Sends.", input: z.object({}), effect, execute: () => "sent", ...more });

type ApprovalCase = { policy?: ApprovalPolicy; agent?: ApprovalRules; effect?: "read" | "write" };
const verdict = ({ policy = {}, agent = {}, effect = "write" }: ApprovalCase) =>
  verdictOf({ tool: tool(effect), policy, agent, userName: "ann" });

const cases: readonly [string, ApprovalCase, Verdict][] = [
  ["nothing is said", {}, "allow"],
  ["a rule is for the other effect", { policy: { deny: [{ tool: "*", effect: "read" }] } }, "allow"],
  ["a rule is for its effect", { policy: { deny: [{ tool: "*", effect: "write" }] } }, "deny"],
  ["a rule for writes, of a read", { policy: { ask: [{ tool: "*", effect: "write" }] }, effect: "read" }, "allow"],
  ["the agent is stricter than the operator", { policy: { allow: ["send"] }, agent: { ask: ["send"] } }, "ask"],
  ["the operator is stricter than the agent", { policy: { deny: ["send"] }, agent: { allow: ["send"] } }, "deny"],
  ["the user's rules are stricter", { policy: { users: { ann: { ask: ["send"] } } } }, "ask"],
  [
    "the user's rules are freer",
    { policy: { askAlways: ["send"], users: { ann: { allow: ["send"] } } } },
    "ask-always",
  ],
  ["only another user's rules say anything", { policy: { users: { bob: { deny: ["send"] } } } }, "allow"],
  ["several lists name it", { policy: { allow: ["*"], ask: ["*"], askAlways: ["send"] } }, "ask-always"],
];
for (const [what, said, expected] of cases)
  test(`approval: ${expected} where ${what}`, () => assert.equal(verdict(said), expected));

test("approval: where nothing is said, the nature of the tool decides", () => {
  const natural = (effect: "read" | "write", more = {}, sandbox?: Parameters<typeof verdictOf>[0]["sandbox"]) =>
    verdictOf({ tool: tool(effect, more), policy: {}, agent: {}, userName: "ann", sandbox });
  const [none, weak, strong] = [
    { driver: "none", grade: "none" },
    { driver: "docker", grade: "none" },
    { driver: "bubblewrap", grade: "strong" },
  ] as const;
  assert.equal(natural("write", { destructive: true }), "ask");
  assert.equal(natural("write", { destructive: true, unasked: true }), "allow");
  assert.equal(natural("write", { unasked: false }), "allow");
  assert.equal(natural("read", { sendsOut: true }), "ask");
  assert.equal(natural("write", {}, weak), "ask");
  assert.equal(natural("read", {}, weak), "allow");
  assert.equal(natural("write", {}, strong), "allow");
  assert.equal(natural("write", {}, none), "allow", "it refuses by itself");
  const allowed = verdictOf({
    ...{ tool: tool("write", { destructive: true }), userName: "ann", sandbox: weak },
    ...{ policy: { allow: ["send"] }, agent: {} },
  });
  assert.equal(allowed, "allow", "what is said counts, not the nature");
});

test("approval: a rule may be a glob, alone or for one effect", () => {
  assert.equal(verdict({ policy: { deny: ["se*"] } }), "deny");
  assert.equal(verdict({ policy: { deny: ["fetch", "x*"] } }), "allow");
  assert.equal(verdict({ policy: { deny: [{ tool: "x*", effect: "write" }] } }), "allow");
});

test("approval: the stricter of two", () => {
  const order = ["allow", "ask", "ask-always", "deny"] as const;
  for (const [at, one] of order.entries())
    for (const [place, other] of order.entries()) assert.equal(stricter(one, other), order[Math.max(at, place)]);
});

test("approval: what is said for after text from outside, asking before allowing", () => {
  const said = (policy: ApprovalPolicy, agent: ApprovalRules = {}, userName = "ann") =>
    decisionAfterUntrusted({ tool: tool("write"), policy, agent, userName });
  const [asks, allows] = [{ askAfterUntrusted: ["send"] }, { allowAfterUntrusted: ["send"] }];
  assert.equal(said({}), undefined);
  assert.equal(said(asks), "ask-always");
  assert.equal(said({}, asks), "ask-always");
  assert.equal(said({ users: { ann: asks } }), "ask-always");
  assert.equal(said({ users: { bob: asks } }), undefined);
  assert.equal(said(allows), "allow");
  assert.equal(said({}, allows), "allow");
  assert.equal(said({ users: { ann: allows } }), undefined, "a user's rules only make it stricter");
  assert.equal(said(allows, asks), "ask-always");
  assert.equal(said({ askAfterUntrusted: ["other"], allowAfterUntrusted: ["other"] }), undefined);
});
