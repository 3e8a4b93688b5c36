import { cpuMilliseconds, serveCommands } from "./child.ts";

/** Imports what its arguments name, in a process of its own, and tells what that cost. */
const before = cpuMilliseconds();
for (const specifier of process.argv.slice(2)) await import(specifier);
const cpuMs = cpuMilliseconds() - before;

serveCommands({ cpuMs: () => cpuMs });
