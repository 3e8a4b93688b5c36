/** Parses one file, told on standard input, and writes what it found to standard output. Killed when it takes too much. */
import { text } from "node:stream/consumers";
import { parseHere, type ParseOptions } from "./parse.ts";
import { UnreadableFile } from "./parsed.ts";

const { path, options } = JSON.parse(await text(process.stdin)) as {
  readonly path: string;
  readonly options: ParseOptions;
};
// Libraries that greet or warn must not speak between the lines.
const say = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
try {
  say(JSON.stringify({ parsed: await parseHere(path, options) }));
} catch (error) {
  const known = error instanceof UnreadableFile;
  const message = error instanceof Error ? error.message : String(error);
  say(
    JSON.stringify({
      failed: { code: known ? error.code : "broken", message: known ? message : `The file can't be read: ${message}` },
    }),
  );
}
