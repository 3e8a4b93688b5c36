import type { Stats } from "node:fs";
import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { FileChange } from "../../protocol/threads/files.ts";
import { bytesOf, measure, type WorkspaceSize } from "./measure.ts";

/** Limits of one workspace. */
export type SpaceLimits = Pick<WorkspaceSize, "bytes" | "entries">;

/** Rest of a total that several workspaces share, and the text for when it is used up. */
export type RemainingSpace = { readonly bytes: number; readonly words: string };

/** Totals beyond one workspace: of a user, of the data folder. */
export type Totals = {
  /** `reserved`: what is promised to calls and writes at work, by workspace. */
  leftFor(folder: string, reserved: ReadonlyMap<string, number>): Promise<readonly RemainingSpace[]>;
  /** A workspace was counted. */
  note(folder: string, bytes: number): void;
};

/** How long a file was, and what it took of the disk. Folders and others have no end. */
export type FileSizes = { readonly length: number; readonly bytes: number };

/** Files that existed when a workspace's latest call began; they are never truncated. */
export type WorkspaceSnapshot = {
  /** Sizes by inode. */
  readonly files: Map<number, FileSizes>;
  readonly paths: Map<string, FileSizes>;
};

/** Usage of one workspace while something writes in it, shared by all writers. */
export type WorkspaceUsage = {
  readonly folder: string;
  most: SpaceLimits;
  used: WorkspaceSize;
  before: WorkspaceSnapshot;
  /** Limit for all writers together, and its reason. */
  ceiling: SpaceLimits;
  words: string;
  /** Bytes reserved by writes and calls. */
  reserved: number;
  readonly calls: Set<RunningCommand>;
  /** Set when the limit was reached, until all calls have ended and what was too much is gone. */
  stopping: (PromiseWithResolvers<readonly FileChange[]> & { isCutting?: boolean }) | undefined;
};

export type RunningCommand = {
  /** All processes of it, as far as they can be seen. */
  pids: () => Promise<readonly number[]>;
  stop(): void;
};

export type CallSpace = {
  readonly account: WorkspaceUsage;
  /** No file may become longer. */
  readonly fileBytes: number;
  /** There was no room when it began: it may only remove. */
  readonly isFull: boolean;
  release(): void;
};

export type WriteSpace = {
  /** Whether so many bytes altogether find room; then they are kept for this write. */
  take(bytes: number): boolean;
  /** Text for when they do not. */
  readonly words: string;
  /** The file stands in its place. */
  wrote(path: string, stats: Stats): void;
  release(): void;
};

export type Space = {
  /**
   * Before a command begins. A share of what is left is kept for it; where others at work hold all of it, it waits. Throws
   * OutOfSpace if they do for too long. Whoever begins in a full workspace may remove, and write next to nothing.
   */
  begin(call: RunningCommand, folder: string, options: SpaceCallOptions): Promise<CallSpace>;
  /** Before a file is written; `replaced` bytes go with it. */
  openWrite(folder: string, most: Partial<SpaceLimits>, replaced?: number): Promise<WriteSpace>;
  /** Counts again what an account says of its workspace. */
  count(account: WorkspaceUsage, options?: { readonly early?: boolean }): Promise<WorkspaceSize>;
  /** Something was removed, perhaps all: others may have room now. */
  removed(folder: string): Promise<void>;
  /** Returns the disk's free space, and how much of it must stay free. */
  keepFree(folder: string): Promise<{ readonly free: number; readonly files: number; readonly least: number }>;
  /** Total of current reservations. */
  reserved(): number;
};

export type SpaceCallOptions = { readonly most: Partial<SpaceLimits>; readonly signal: AbortSignal };

export type SpaceOptions = {
  readonly most?: SpaceLimits;
  /** Bytes that must stay free on each disk; a tenth of a small one. */
  readonly keepFreeBytes?: number;
  readonly totals?: Totals | undefined;
  readonly waitMs?: number;
};

export class OutOfSpace extends Error {
  override readonly name = "OutOfSpace";
}

const defaultMost: SpaceLimits = { bytes: 256 * 1024 ** 2, entries: 50_000 };
/** For what a full workspace must still take: a few lines in a file for what is temporary. */
export const leastFileBytes = 64 * 1024;
/** Share of the unreserved space that one call reserves (a quarter), so that several can run at once. */
const sharePart = 4;
/** Less is not worth beginning with, of what a workspace may hold. */
const floorPart = 64;
const keepFreePart = 10;
/** Who waits hears of an end at once; space may also come otherwise. */
const lookAgainMs = 250;

export function createSpace(options: SpaceOptions = {}): Space {
  const { most: usual = defaultMost, keepFreeBytes = 0, totals, waitMs = 30_000 } = options;
  const accounts = new Map<string, WorkspaceUsage & { users: number; counting: Promise<unknown>; since: number }>();
  let changed = Promise.withResolvers<void>();
  const wake = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };

  const open = (folder: string) => {
    const used = { bytes: 0, entries: 0, isWhole: true };
    const before = { files: new Map<number, FileSizes>(), paths: new Map<string, FileSizes>() };
    const fresh = { folder, most: usual, used, before, ceiling: usual, words: "", reserved: 0, stopping: undefined };
    const account = accounts.get(folder) ?? {
      ...{ ...fresh, calls: new Set<RunningCommand>(), users: 0, counting: Promise.resolve(), since: 0 },
    };
    accounts.set(folder, account);
    account.users += 1;
    return account;
  };
  type Opened = ReturnType<typeof open>;

  const close = (account: Opened) => {
    account.users -= 1;
    if (account.users === 0) accounts.delete(account.folder);
    wake();
  };

  /** One after the other; what is written meanwhile is added, perhaps twice. */
  const countFor = (
    account: Opened,
    { early = false, before }: { early?: boolean; before?: WorkspaceSnapshot } = {},
  ) => {
    const counted = account.counting.then(async () => {
      account.since = 0;
      const each = before && (({ path, stats }: { path: string; stats: Stats }) => remember(before, path, stats));
      const most = early ? account.ceiling : undefined;
      const { bytes, ...rest } = await measure(account.folder, { ...(each && { each }), ...(most && { most }) });
      account.used = { ...rest, bytes: bytes + account.since };
      if (!early) totals?.note(account.folder, account.used.bytes);
      return account.used;
    });
    account.counting = counted.catch(() => {});
    return counted;
  };

  const keepFree: Space["keepFree"] = async (folder) => {
    const { bavail, blocks, bsize, ffree } = await statfs(folder);
    const least = Math.min(keepFreeBytes, (blocks * bsize) / keepFreePart);
    return { free: bavail * bsize, files: ffree, least };
  };

  /** Space it may still take, reserved or not, and the reason for the limit. */
  const leftOf = async (account: Opened): Promise<RemainingSpace> => {
    const { folder } = account;
    const reserved = new Map([...accounts.values()].map((each) => [each.folder, each.reserved]));
    const elsewhere = [...accounts.values()].reduce((sum, each) => sum + (each === account ? 0 : each.reserved), 0);
    const [{ free, least }, others = []] = await Promise.all([keepFree(folder), totals?.leftFor(folder, reserved)]);
    // Only now: others may have counted meanwhile.
    const { most, used } = account;
    const own = [
      { bytes: most.bytes - used.bytes, words: `the workspace is full: it may hold ${megabytes(most.bytes)}` },
      ...(used.entries < most.entries ? [] : [{ bytes: 0, words: filesWords(most) }]),
      ...(used.isWhole ? [] : [{ bytes: 0, words: "the workspace has folders that can't be looked into" }]),
      { bytes: free - least - elsewhere, words: "the server's disk is nearly full" },
    ];
    return [...own, ...others].reduce((least, each) => (each.bytes < least.bytes ? each : least));
  };

  const settle = async (account: Opened): Promise<RemainingSpace> => {
    const left = await leftOf(account);
    const { bytes, entries } = account.used;
    const ceiling = { bytes: bytes + Math.max(0, left.bytes), entries: Math.max(entries, account.most.entries) };
    // Where others are at work already, what they wrote too much must not become what is allowed.
    if (account.calls.size === 0 || ceiling.bytes < account.ceiling.bytes) account.ceiling = ceiling;
    account.words = left.words;
    return left;
  };

  return {
    keepFree,
    async removed(folder) {
      if (totals) totals.note(folder, (await measure(folder).catch(() => undefined))?.bytes ?? 0);
    },
    reserved: () => [...accounts.values()].reduce((sum, { reserved }) => sum + reserved, 0),
    async count(account, { early = false } = {}) {
      const opened = accounts.get(account.folder);
      return opened ? countFor(opened, { early }) : account.used;
    },

    async begin(call, folder, { most, signal }) {
      const latest = performance.now() + waitMs;
      for (;;) {
        const account = open(folder);
        let isTaken = false;
        try {
          account.most = { ...usual, ...most };
          while (account.stopping) await account.stopping.promise;
          const before: WorkspaceSnapshot = { files: new Map(), paths: new Map() };
          await countFor(account, { before });
          const left = await settle(account);
          if (account.stopping) continue;
          const { bytes, entries } = account.used;
          const isBeyond = bytes > account.ceiling.bytes || entries > account.ceiling.entries;
          const free = left.bytes - account.reserved;
          const floor = account.most.bytes / floorPart;
          // Those at work are about to be stopped.
          if (!isBeyond && (left.bytes <= 0 || free >= floor || account.reserved === 0)) {
            const share = Math.max(0, Math.min(free, Math.max(floor, free / sharePart)));
            account.reserved += share;
            account.before = before;
            account.calls.add(call);
            isTaken = true;
            const longest = [...before.paths.values()].reduce((most, { length }) => Math.max(most, length), 0);
            return {
              account,
              isFull: left.bytes <= 0,
              fileBytes: left.bytes <= 0 ? leastFileBytes : Math.min(account.most.bytes, longest + free),
              release() {
                account.reserved -= share;
                close(account);
              },
            };
          }
        } finally {
          if (!isTaken) close(account);
        }
        if (performance.now() > latest)
          throw new OutOfSpace(
            "running commands have reserved all space left in this workspace, so nothing was run; try again when they have finished",
          );
        const late = sleep(lookAgainMs, undefined, { signal, ref: false });
        await Promise.race([changed.promise, late]).catch(() => {});
        signal.throwIfAborted();
      }
    },

    async openWrite(folder, most, replaced = 0) {
      const account = open(folder);
      try {
        account.most = { ...usual, ...most };
        while (account.stopping) await account.stopping.promise;
        await countFor(account);
        if (account.calls.size === 0) await settle(account);
      } catch (error) {
        close(account);
        throw error;
      }
      let mine = 0;
      return {
        get words() {
          return account.words;
        },
        take(bytes) {
          const more = bytes - replaced - mine;
          const isNew = replaced === 0 && account.used.entries >= account.most.entries;
          if (isNew || account.used.bytes + account.reserved + more > account.ceiling.bytes) return false;
          account.reserved += Math.max(0, more);
          mine += Math.max(0, more);
          return true;
        },
        wrote(path, stats) {
          const more = bytesOf(stats) - replaced;
          account.used = { ...account.used, bytes: account.used.bytes + more, entries: account.used.entries + 1 };
          account.since += Math.max(0, more);
          totals?.note(folder, account.used.bytes);
          remember(account.before, Buffer.from(path).toString("latin1"), stats);
        },
        release() {
          account.reserved -= mine;
          close(account);
        },
      };
    },
  };
}

function remember({ files, paths }: WorkspaceSnapshot, path: string, stats: Stats): void {
  const was = { length: stats.isFile() ? stats.size : Number.POSITIVE_INFINITY, bytes: bytesOf(stats) };
  files.set(stats.ino, was);
  if (stats.isFile()) paths.set(path, was);
}

export function filesWords({ entries }: SpaceLimits): string {
  return `the workspace is full: it may hold ${entries} files and folders`;
}

export function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)} MB`;
}
