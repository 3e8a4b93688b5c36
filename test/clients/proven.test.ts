import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withTable } from "./proven.ts";

test("README.md has the table of what is proven", () => {
  const path = join(import.meta.dirname, "../../README.md");
  const page = readFileSync(path, "utf8");
  const written = withTable(page);
  if (page !== written) writeFileSync(path, written);
  assert.equal(page, written, "it was another one, and is written anew: look at it and keep it");
});
