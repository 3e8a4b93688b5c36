import assert from "node:assert/strict";
import { test } from "node:test";
import { missingTools } from "./missing-tools.ts";

test("tools named exactly must be there; globs may fit none", () => {
  const tools = ["now", "read_file", "mcp_*", "!delete_*", "!now", "!delte_task", "Now"];
  assert.deepEqual(missingTools({ tools }, ["now", "delete_task"]), ["read_file", "!delte_task", "Now"]);
  assert.deepEqual(missingTools({ tools: ["*"] }, []), []);
});
