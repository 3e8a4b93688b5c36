/** A signal to the process group arrives twice, the second time by way of the bootstrap, which hands on what it gets. */
const echoMs = 1000;

/**
 * Resolves with the first SIGINT, SIGTERM or SIGHUP. From then on only an impatient person ends the process at once: SIGINT a
 * second or more later. SIGTERM again asks for the same, and must not cut off the stop that is under way.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | undefined;
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(name, () => {
        since ??= performance.now();
        if (name === "SIGINT" && performance.now() - since > echoMs) process.exit(130);
        resolve(name);
      });
  });
}
