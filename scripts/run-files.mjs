/**
 * Node's runner over the files it is given, in their order, which `node --test` would sort by name: test.mjs puts those that take
 * long first, so that none is left over at the end.
 */
import { createWriteStream } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import tally from "./test-tally.mjs";

const { files, concurrency, execArgv, tallyFile } = JSON.parse(process.argv[2]);
// As with `node --test`: who ends this ends the tests, and hears what was open.
const ended = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => ended.abort());
const events = run({ files, concurrency, execArgv, signal: ended.signal });
events.on("test:summary", ({ file, success }) => {
  if (file === undefined && !success) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
if (tallyFile !== undefined) events.compose(tally).pipe(createWriteStream(tallyFile));
