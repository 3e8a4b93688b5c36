import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { baseline } from "./baseline.ts";
import { migrations } from "./migrations/index.ts";

const root = new URL("../../../", import.meta.url);

/**
 * Where set-up keeps a database without rows that has all tables of this version (src/cli/prepare-database.ts makes it). Of another
 * version, or with other packages, it is another folder.
 */
export function preparedDatabase(): string {
  const hash = createHash("sha256")
    .update(readFileSync(new URL("package.json", root)))
    .update(baseline.script());
  for (const { name, up } of migrations) hash.update(name).update(String(up));
  return fileURLToPath(new URL(`.cache/database/${hash.digest("hex").slice(0, 16)}`, root));
}
