import { Unavailable } from "../protocol/base/errors.ts";
import type { Space } from "../sandbox/workspace/space.ts";

/** Throws Unavailable if less would stay free of the folder's disk than must: the database must never be what finds it full. */
export type CheckDisk = (folder: string, bytes: number) => Promise<void>;

export function checkDiskBy(space: Pick<Space, "keepFree">): CheckDisk {
  return async (folder, bytes) => {
    const { free, least } = await space.keepFree(folder);
    if (free - bytes < least)
      throw new Unavailable("The server's disk is nearly full, so it takes no files now (sandbox.keepFreeMb).", {
        code: "disk_full",
      });
  };
}
