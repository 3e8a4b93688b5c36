import { z } from "zod";
import type { ConfigPath } from "../tree.ts";
import { sandboxKinds } from "../../protocol/agents/sandboxes.ts";

/** A name, all names below one, an address, a range; with a port. IPv6 stands in brackets if a port follows. */
export const hostEntry =
  /^((\*\.)?[a-z\d][a-z\d.-]*(\/\d{1,2})?|[a-f\d]*:[a-f\d:.]+(\/\d{1,3})?|\[[a-f\d:.]+(\/\d{1,3})?\])(:\d{1,5})?$/i;
const whatHostsAre =
  "must be a host (pypi.org, *.example.org, 10.0.0.0/8), with a port if that is not 80 or 443: api.example.org:8443";

/** Where code that agents wrote runs, and what it may use. */
export const sandboxSchema = z.strictObject({
  kind: z.enum(sandboxKinds).default("auto"),
  /** An interpreter or a virtual environment; absent: the first python3 of the PATH. */
  python: z.string().min(1).optional(),
  /** Of containers. */
  image: z.string().min(1).default("python:3.11-slim"),
  /** What all processes of one command may use together. */
  memoryMb: z.int().min(16).default(1024),
  processes: z.int().min(4).default(128),
  /** Cores; 0.5 is half of one. */
  cpus: z.number().min(0.05).default(1),
  /** What one workspace may hold. */
  diskMb: z.int().positive().default(256),
  /** Files and folders of it. */
  diskFiles: z.int().positive().default(50_000),
  /** What all workspaces of one person may hold, and all of the data folder. */
  userMb: z.int().positive().default(5120),
  totalMb: z.int().positive().default(51_200),
  /** Of the disk; of a small one a tenth. Beyond it no workspace takes anything. */
  keepFreeMb: z.int().nonnegative().default(512),
  timeoutSeconds: z.number().positive().max(86_400).default(30),
  /** What one command may write; beyond it, it is killed. */
  outputMb: z.number().positive().default(64),
  network: z
    .strictObject({
      /** Hosts, by name or `*.domain`, and no others; empty: no network at all. */
      allow: z.array(z.string().regex(hostEntry, { error: whatHostsAre })).default([]),
    })
    .prefault({}),
  /** A folder that each new workspace begins with; absent: `./workspace` if there is one. */
  workspace: z.string().min(1).optional(),
});
export type SandboxConfig = z.infer<typeof sandboxSchema>;

/** Its paths made absolute; a bare name of an interpreter stays one, to be found in the PATH. */
export function withFolders(
  sandbox: SandboxConfig,
  folder: (path: ConfigPath, value: string) => string,
): SandboxConfig {
  const { python, workspace } = sandbox;
  return {
    ...sandbox,
    ...(python?.includes("/") ? { python: folder(["sandbox", "python"], python) } : {}),
    ...(workspace === undefined ? {} : { workspace: folder(["sandbox", "workspace"], workspace) }),
  };
}
