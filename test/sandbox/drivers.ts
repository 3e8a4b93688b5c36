import { engineEnvironment } from "../../src/config/load.ts";
import { bubblewrapDriver } from "../../src/sandbox/drivers/bubblewrap.ts";
import { containerDriver } from "../../src/sandbox/drivers/docker/docker.ts";
import { landlockDriver } from "../../src/sandbox/drivers/landlock.ts";
import type { SandboxDriver } from "../../src/sandbox/sandbox.ts";
import { simulatedDriver } from "../../src/sandbox/drivers/simulated.ts";

const settings = { environment: engineEnvironment() };

/** As they come without configuration. */
export const drivers: readonly SandboxDriver[] = [
  bubblewrapDriver(),
  containerDriver("docker", settings),
  containerDriver("podman", settings),
  landlockDriver(),
  // What has no end in it takes all the time it gets.
  simulatedDriver({ limits: { timeoutMs: 3000 } }),
];

/**
 * Which probes a driver does not hold; each stands in its report's gaps and in docs/sandbox.md too. `absent`: what a probe
 * is about is not there at all.
 */
export const expectations: Readonly<Record<SandboxDriver["name"], Readonly<Record<string, "open" | "absent">>>> = {
  bubblewrap: {},
  docker: {},
  podman: {},
  landlock: { "the workspace is /workspace": "open" },
  simulated: {
    // Its output comes at the end, all at once, and as text.
    "an abort ends them": "open",
    "endless output": "open",
    "binary output and files": "open",
    // It has no signals, no processes in the background, and no /dev/zero to fill anything with.
    "exit codes and signals": "open",
    "the end of a command ends them": "absent",
    "a full disk by files without a name": "absent",
  },
  "unsafe-native": {},
};
