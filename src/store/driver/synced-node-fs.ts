import { fsyncSync } from "node:fs";
import type { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { ownersMode } from "./private-files.ts";

type EmscriptenOptions = Parameters<NodeFS["init"]>[1];
type EmscriptenModule = Parameters<NonNullable<EmscriptenOptions["preRun"]>[number]>[0];

/** Members of the emscripten build that its types lack: operations of files, and of open ones. */
type NodeFileSystem = {
  node_ops: { mknod: (parent: unknown, name: string, mode: number, device: number) => unknown };
  stream_ops: { fsync?: (stream: { nfd: number }) => number };
  /** Behind every way to change a mode. */
  setattr: (file: unknown, node: unknown, attributes: { readonly mode?: number }, ...functions: unknown[]) => void;
};

/** EIO in the numbering of WASI: PostgreSQL then stops rather than trust the disk. */
const inputOutputError = 29;

/**
 * Files on disk whose fsync is real. The stock build has none, so PostgreSQL believes in a sync that never happens
 * and a power cut loses acknowledged rows. And whose modes keep others out: the stock build makes most files for everybody,
 * past the umask.
 */
export class SyncedNodeFS extends NodeFS {
  readonly #onSync: () => void;

  /** `onSync` is called after every fsync that reached the disk. */
  constructor(directory: string, onSync: () => void) {
    super(directory);
    this.#onSync = onSync;
  }

  override async init(pglite: PGlite, options: EmscriptenOptions): Promise<{ emscriptenOpts: EmscriptenOptions }> {
    const { emscriptenOpts } = await super.init(pglite, options);
    const makeReal = (module: EmscriptenModule): void => {
      const { NODEFS } = (module.FS as unknown as { filesystems: { NODEFS: NodeFileSystem } }).filesystems;
      NODEFS.stream_ops.fsync = ({ nfd }) => {
        try {
          fsyncSync(nfd);
        } catch {
          return inputOutputError;
        }
        this.#onSync();
        return 0;
      };
      keepOthersOut(NODEFS);
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), makeReal] } };
  }
}

function keepOthersOut(files: NodeFileSystem): void {
  const { setattr } = files;
  const { mknod } = files.node_ops;
  files.node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ownersMode, device);
  files.setattr = (file, node, { mode, ...others }, ...functions) =>
    setattr(file, node, mode === undefined ? others : { ...others, mode: mode & ownersMode }, ...functions);
}
