import { setFlagsFromString } from "node:v8";
import type { Extension } from "@electric-sql/pglite";

/** Members of the emscripten build that its types lack. */
type PostgresModule = {
  _pgl_startPGlite: () => void;
  _raw_parser: (text: number, mode: number) => number;
  stringToUTF8OnStack: (text: string) => number;
  stackSave: () => number;
  stackRestore: (stack: number) => void;
};

/**
 * Keeps the grammar of PostgreSQL from V8's optimizing compiler. It is one function of 100 kB, which counts as hot after some five
 * statements, and to optimize it takes 600 MB for a moment and half a second of CPU, for a parser that prepared statements hardly
 * need. So it is called here for the first time, which compiles it, while V8 is told that only another function may ever
 * be optimized: what is compiled then stays as it is. A V8 without that flag optimizes it as before.
 */
export const baselineParser: Extension = {
  name: "baseline parser",
  setup: async (_pglite, options: { readonly preRun?: readonly ((module: PostgresModule) => void)[] }) => ({
    emscriptenOpts: { ...options, preRun: [...(options.preRun ?? []), parseOnceAtStart] },
  }),
};

function parseOnceAtStart(module: PostgresModule): void {
  const start = module._pgl_startPGlite;
  module._pgl_startPGlite = () => {
    start();
    const stack = module.stackSave();
    const nothing = module.stringToUTF8OnStack("");
    setFlagsFromString("--wasm-tier-up-filter=0");
    try {
      module._raw_parser(nothing, 0);
    } finally {
      setFlagsFromString("--wasm-tier-up-filter=-1");
      module.stackRestore(stack);
    }
  };
}
