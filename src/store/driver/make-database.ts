import { startPGlite } from "./pglite-engine.ts";

/** A program: makes an empty database of the folder that it is given. */
const pglite = await startPGlite(process.argv[2]!, () => {});
await pglite.close();
