/** fdatasync does nothing in the WASM build, so the method must be fsync. */
const syncing = { fsync: "on", wal_sync_method: "fsync" };

/**
 * Of one process on a small machine. The stock build takes 160 MB of buffers and fills them with zeros at its start, though all
 * files are in the system's cache as well; for a plan that seems expensive it looks for a compiler that it doesn't have.
 */
const memory = { shared_buffers: "32MB", wal_buffers: "1MB", jit: "off" };

/** The parameters that PGlite starts PostgreSQL with, with syncing on and less memory. */
export function startParams(defaults: readonly string[]): string[] {
  const ours = Object.entries({ ...syncing, ...memory }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return [...defaults.filter((param) => param !== "-F"), ...ours];
}
