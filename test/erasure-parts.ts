import { join } from "node:path";
import { createUploads } from "../src/knowledge/uploads/uploads.ts";
import { createErasures, type ErasureDeps } from "../src/people/erasures.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createWorkspaces } from "../src/sandbox/workspace/workspaces.ts";
import type { Database } from "../src/store/driver/database.ts";
import { startTestRuns, type TestRunsOptions } from "./runs.ts";

/** The run service with a folder for files, and what erases people of it. */
export async function startErasing(
  database: Database,
  { folder, ...rest }: Pick<TestRunsOptions, "script" | "tools" | "approval"> & { readonly folder: string },
) {
  const service = await startTestRuns({
    database,
    ...rest,
    mirror: { folder: join(folder, "sessions") },
  });
  const uploads = createUploads({
    database,
    folder: join(folder, "uploads"),
    fileBytes: 1000,
    limits: { files: 100, bytes: 10_000 },
    log: silentLog,
  });
  const workspaces = createWorkspaces({ folder: join(folder, "scratch") });
  const parts: ErasureDeps = {
    database,
    runs: service.erasure,
    schedules: service.schedules,
    workspaces,
    uploads,
    collections: undefined,
    signOut: () => Promise.resolve(),
    forget: () => {},
    log: silentLog,
    withFiles: true,
  };
  return { service, uploads, workspaces, erasures: () => createErasures(parts) };
}
