/**
 * A command that fails is no failure of its tool, but nothing that went well either: its exit code, from what stands beside the
 * result. Undefined where all went well, or where it was no command.
 */
export function failedExitCode(data: unknown): number | undefined {
  const code = typeof data === "object" && data !== null && "exitCode" in data ? data.exitCode : undefined;
  return typeof code === "number" && code !== 0 ? code : undefined;
}
