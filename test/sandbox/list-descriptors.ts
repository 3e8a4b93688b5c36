import { readdirSync } from "node:fs";
import { bubblewrapDriver } from "../../src/sandbox/drivers/bubblewrap.ts";

/** Tells which descriptors this process has open, and which a command that it runs in a sandbox has. */
const own = readdirSync("/proc/self/fd").map(Number);
const signal = new AbortController().signal;
const sandbox = await bubblewrapDriver().open(signal);
const list = 'for f in /proc/self/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done; true';
const { stdout } = await sandbox.run({ argv: ["sh", "-c", list], workspace: process.argv[2] ?? "", signal });
await sandbox.close();
console.log(JSON.stringify({ own, inside: stdout.text.trim().split("\n").map(Number) }));
