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

/** Somebody else on this machine, whom only root can be. */
export const stranger = { uid: 65_533, gid: 65_533 };
export const skipStranger =
  skipCurl || ((process.platform !== "linux" || process.getuid?.() !== 0) && "only root on Linux can be another user");
