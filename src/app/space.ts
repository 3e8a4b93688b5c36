import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/schema.ts";
import type { HealthDetails } from "../http/server/services.ts";
import { messageOf, Unavailable } from "../protocol/base/errors.ts";
import { isId } from "../protocol/base/ids.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Finding } from "../protocol/people/overview.ts";
import { measure } from "../sandbox/workspace/measure.ts";
import { megabytes, type Space, type Totals } from "../sandbox/workspace/space.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import { spaceOf } from "./sandbox.ts";
import type { Query } from "../protocol/agents/tools.ts";
import { ownersOfThreads } from "../store/people/thread-owners.ts";

/** Throws Unavailable if less would stay free of the folder's disk than must: the database must never be what finds it full. */
export type CheckDisk = (folder: string, bytes: number) => Promise<void>;

export type OpenSpace = {
  readonly space: Space;
  readonly totals: WorkspaceTotals;
  readonly checkDisk: CheckDisk;
  readonly findings: () => Promise<readonly Finding[]>;
  readonly health: () => HealthDetails;
};

/** What files may take of the disk. */
export function openSpace(config: Config): OpenSpace {
  const totals = openWorkspaceTotals(config);
  const space = spaceOf(config, totals.totals);
  return {
    space,
    totals,
    checkDisk: checkDiskBy(space),
    findings: () => spaceFindings(config, { space, state: totals.state() }),
    health: () => ({ space: { ...totals.state(), reservedBytes: space.reserved() } }),
  };
}

export function checkDiskBy(space: Pick<Space, "keepFree">): CheckDisk {
  return async (folder, bytes) => {
    const { free, least } = await space.keepFree(folder);
    if (free - bytes < least)
      throw new Unavailable("The server's disk is nearly full, so it takes no files now (sandbox.keepFreeMb).", {
        code: "disk_full",
      });
  };
}

/** What all workspaces of the data folder hold, as far as they were counted. */
export type WorkspaceTotals = {
  readonly totals: Totals;
  /** Counts all, at once and each hour: other nodes write there too. Before, only what this process has seen counts. */
  begin(
    workspaces: Pick<Workspaces, "threads">,
    kit: { readonly query: Query; readonly log: Log },
  ): () => Promise<void>;
  state(): TotalsState;
};

export type TotalsState = { readonly workspaces: number; readonly bytes: number };

const everyMs = 60 * 60_000;
/** Between two workspaces: nobody waits for this. */
const restMs = 5;
const together = 500;

type SpaceSettings = Pick<Config, "data"> & { readonly sandbox: Pick<Config["sandbox"], "userMb" | "totalMb"> };

export function openWorkspaceTotals({ data, sandbox }: SpaceSettings): WorkspaceTotals {
  const used = new Map<string, number>();
  const owners = new Map<string, string>();
  let query: Query | undefined;

  const findOwners = async (folders: readonly string[]) => {
    const ids = folders.map((folder) => basename(folder));
    // What is named otherwise is of no conversation, but of a program that the server runs for itself.
    const unknown = ids.filter((id) => isId(id) && !owners.has(id));
    for (let at = 0; query && at < unknown.length; at += together)
      for (const [id, owner] of await ownersOfThreads(query, unknown.slice(at, at + together))) owners.set(id, owner);
  };
  const ownerOf = (folder: string) => owners.get(basename(folder));
  const total = (of: ReadonlyMap<string, number>, isMeant: (folder: string) => boolean) =>
    [...of].reduce((sum, [folder, bytes]) => sum + (isMeant(folder) ? bytes : 0), 0);

  const countAll = async (workspaces: Pick<Workspaces, "threads">, signal: AbortSignal) => {
    const folders = (await workspaces.threads()).map((id) => join(data, "scratch", id));
    const there = new Set(folders);
    for (const folder of used.keys()) if (!there.has(folder)) used.delete(folder);
    await findOwners(folders);
    for (const folder of folders) {
      if (signal.aborted) return;
      // One that is removed meanwhile holds nothing.
      const counted = await measure(folder).catch(() => undefined);
      if (counted) used.set(folder, counted.bytes);
      await sleep(restMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };

  return {
    totals: {
      async leftFor(folder, reserved) {
        await findOwners([folder]);
        const owner = ownerOf(folder);
        const left = (most: number, isMeant: (each: string) => boolean) =>
          most - total(used, isMeant) - total(reserved, (each) => each !== folder && isMeant(each));
        const [userBytes, allBytes] = [sandbox.userMb * 1024 ** 2, sandbox.totalMb * 1024 ** 2];
        const all = {
          bytes: left(allBytes, () => true),
          words: `the workspaces of this server are full: together they may hold ${megabytes(allBytes)}`,
        };
        if (owner === undefined) return [all];
        const words = `the files of your conversations may hold ${megabytes(userBytes)} together: remove some, also in others`;
        return [all, { bytes: left(userBytes, (each) => ownerOf(each) === owner), words }];
      },
      note: (folder, bytes) => void used.set(folder, bytes),
    },
    begin(workspaces, { query: asked, log }) {
      query = asked;
      const ending = new AbortController();
      const { signal } = ending;
      const go = async () => {
        while (!signal.aborted) {
          await countAll(workspaces, signal).catch((error: unknown) =>
            log.warn({ error: messageOf(error) }, "could not measure workspaces; retrying"),
          );
          await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
        }
      };
      const round = go();
      return () => {
        ending.abort();
        return round;
      };
    },
    state: () => ({ workspaces: used.size, bytes: total(used, () => true) }),
  };
}

/** For doctor and admins: how full it is. */
export async function spaceFindings(
  { data, sandbox }: SpaceSettings,
  { space, state }: { readonly space: Space; readonly state?: TotalsState },
): Promise<Finding[]> {
  const about = "space";
  // Before the first start there is no data folder.
  const room = await space.keepFree(data).catch(() => undefined);
  if (!room) return [];
  const { free, least } = room;
  const disk = `${megabytes(free)} free on the disk of the data folder, ${megabytes(least)} are kept free`;
  const findings: Finding[] =
    free < least
      ? [{ grade: "trouble", about, text: `${disk}: workspaces take nothing. Make room, or lower sandbox.keepFreeMb` }]
      : [{ grade: free < 2 * least ? "note" : "ok", about, text: disk }];
  if (!state) return findings;
  const isNear = state.bytes > sandbox.totalMb * 1024 ** 2 * 0.9;
  const text = `${state.workspaces} workspaces hold ${megabytes(state.bytes)} of ${sandbox.totalMb} MB (sandbox.totalMb)`;
  return [...findings, { grade: isNear ? "note" : "ok", about, text }];
}
