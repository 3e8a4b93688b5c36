import { readdirSync, readFileSync } from "node:fs";

/** What all processes of this machine were started with, those in sandboxes too. */
export function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
      } catch {
        // It has ended meanwhile.
        return "";
      }
    });
}
