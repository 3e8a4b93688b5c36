import { setFlagsFromString } from "node:v8";
import { type Extension, PGlite } from "@electric-sql/pglite";
import { pg_textsearch } from "@electric-sql/pglite-pg_textsearch";
import { vector } from "@electric-sql/pglite-pgvector";
import { baselineParser } from "./baseline-parser.ts";
import { startParams } from "./pglite-settings.ts";
import { SyncedNodeFS } from "./synced-node-fs.ts";
import { parsers } from "./values.ts";

/**
 * How much of a function runs before V8 optimizes it, in bytes of code, asked when a program is loaded. By its default a start optimizes
 * 150 functions of PostgreSQL, for 0.3 s of CPU and 40 MB, and needs few of them again; at work the hot ones get there all the same.
 */
const budget = { first: 200_000_000, usual: 13_000_000 };

/** PGlite in this thread, on a folder, which becomes a database if it is empty. `onSync` is called after every fsync that reached the disk. */
export async function startPGlite(folder: string, onSync: () => void): Promise<PGlite> {
  const extensions: Record<string, Extension> = { baselineParser, vector, pg_textsearch };
  setFlagsFromString(`--wasm-tiering-budget=${budget.first}`);
  try {
    return await PGlite.create({
      fs: new SyncedNodeFS(folder, onSync),
      startParams: startParams(PGlite.defaultStartParams),
      extensions,
      parsers,
    });
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${budget.usual}`);
  }
}
