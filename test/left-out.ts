/** Why tests that need a part of the machine are skipped where scripts/system.mjs found it missing; false where it is there. */
const {
  COLLOQUY_TEST_CURL: curl,
  COLLOQUY_TEST_DATABASES: databases = "pglite,postgres",
  COLLOQUY_TEST_TMUX: tmux,
} = process.env;

export const skipCurl = curl === "no" && "curl is not installed";
export const skipTmux = tmux === "no" && "tmux is not installed";

export function skipDatabase(kind: "pglite" | "postgres"): string | false {
  return !databases.split(",").includes(kind) && `COLLOQUY_TEST_DATABASES=${databases} leaves it out`;
}
