import assert from "node:assert/strict";
import { test } from "node:test";
import { runFailed } from "./run-errors.ts";

test("a run that ends at a limit is no fault of the server", () => {
  const statusOf = (code: string) => runFailed("r", { code, message: "It is used up." }).status;
  assert.deepEqual(["limit_budget", "limit_steps", "limit_cost", "format_invalid"].map(statusOf), [429, 422, 422, 422]);
  assert.deepEqual(["failed", "model_auth"].map(statusOf), [500, 502]);
});
