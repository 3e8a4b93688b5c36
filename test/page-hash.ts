import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
/** Of all that the pictures show, as it was when all of them were looked at and nothing was found. */
const seenFile = join(root, "web/shell/screens.sha256");

/** Whether the page is what it was when all of its pictures were looked at. */
export function isPageSeen(): boolean {
  return readFileSync(seenFile, "utf8").trim() === hashOfPage();
}

/** Says that all pictures of the page as it is now were looked at. */
export function markPageSeen(): void {
  writeFileSync(seenFile, `${hashOfPage()}\n`);
}

function hashOfPage(): string {
  const files = ["package-lock.json", ...globSync(["web/**/*", "test/page-world/*"], { cwd: root })]
    .filter((file) => /\.\w+$/.test(file) && !/\.test\.tsx?$|\.sha256$/.test(file))
    .sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}
