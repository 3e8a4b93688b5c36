/** Every gate but the tests, each with its time. All run, then the whole fails if one did. */
import { dirname } from "node:path";
import { runChild } from "./run-child.mjs";

const root = dirname(import.meta.dirname);
const bin = (path) => `node_modules/${path}`;
const lingui = [bin("@lingui/cli/dist/lingui.js"), "check"];
const config = ["--config", "web/lingui.config.ts"];

const gates = [
  { name: "lock", args: ["scripts/complete-lock.mjs", "--check"] },
  { name: "format", args: [bin("oxfmt/bin/oxfmt"), "--check"] },
  { name: "lint and layers", args: [bin("oxlint/bin/oxlint"), "--deny-warnings"] },
  { name: "the whole house", args: ["lint/house.mjs"], says: true },
  { name: "lint's own fixtures", args: ["--test", "lint/layers.test.mjs", "lint/house.test.mjs"] },
  { name: "drawing of the layers", args: ["scripts/draw-layers.mjs", "--check"] },
  { name: "types", args: [bin("typescript/bin/tsc")] },
  { name: "types of the page", args: [bin("typescript/bin/tsc"), "-p", "web"] },
  { name: "words are extracted", args: [...lingui, "sync", "--clean", ...config] },
  {
    name: "words in both languages",
    args: [...lingui, "missing", "--locale", "en,de", "--mode", "catalog", "--verbose", ...config],
  },
  { name: "unused code", args: [bin("knip/bin/knip.js"), "--no-progress"] },
  { name: "secrets", args: [bin("secretlint/bin/secretlint.js"), "--secretlintignore", ".secretlintignore", "**/*"] },
  { name: "known holes in packages", args: ["scripts/audit.mjs"], says: true },
];

const failed = [];
for (const { name, args, says } of gates) {
  const startedAt = performance.now();
  const { code, output } = await runChild(process.execPath, args, { cwd: root, quiet: true });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? "✔" : "✖"} ${name} (${seconds} s)${says && code === 0 ? `: ${output.trim()}` : ""}`);
  if (code === 0) continue;
  failed.push(name);
  console.log(output.trimEnd().replaceAll(/^/gm, "    "));
}

console.log(
  `${gates.length - failed.length} gates passed, ${failed.length} failed${failed.length ? `: ${failed.join(", ")}` : ""}`,
);
if (failed.length > 0) process.exitCode = 1;
