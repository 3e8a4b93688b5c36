import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { ApprovalPolicy, ApprovalRules, Verdict } from "../../protocol/agents/approval.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { verdictOf } from "./approval.ts";

const tool = (effect: "read" | "write") =>
  defineTool({ name: "send", description: "Sends.", input: z.object({}), effect, execute: () => "sent" });

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
