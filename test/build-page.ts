import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The page as its sources are now; the folder it is in. */
export function buildPage(): string {
  const root = join(import.meta.dirname, "..");
  execFileSync(process.execPath, [join(root, "scripts/build-page.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  return join(root, ".cache/page");
}
