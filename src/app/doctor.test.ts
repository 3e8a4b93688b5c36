import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../tools/core/define-tool.ts";
import { examineWrites } from "./doctor.ts";

const tool = (name: string, more: Partial<ToolDefinition<z.ZodObject>>) => ({
  ...defineTool({ name, description: name, input: z.object({}), effect: "write", execute: () => "ok", ...more }),
  source: `/tools/${name}.ts`,
});

test("tools of one's own whose lost answers only a person can mend are named, and no others", () => {
  const found = [
    ...examineWrites([
      tool("pay", {}),
      tool("look", { effect: "read" }),
      tool("note", { scope: "local" }),
      tool("build", { scope: "sandbox" }),
      tool("order", { idempotent: true }),
      tool("book", { reconcile: async () => "not-done" }),
    ]),
  ];
  assert.deepEqual(
    found.map(({ grade, about, text }) => [grade, about, text.split(" writes")[0]]),
    [["note", "tools", "pay (/tools/pay.ts)"]],
  );
});
