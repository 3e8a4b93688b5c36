/**
 * A reporter for .ci/run: what passed, failed and was skipped in one line, a line for each file with its seconds, and what failed
 * with its reason, since of a long log often only the end is at hand.
 * Unlike the runner's own summary it counts what was cancelled as failed, and as one skipped test each a skipped suite, a test
 * that is still to be written and a file without any test.
 */
import { relative, resolve } from "node:path";
import { inspect } from "node:util";

export default async function* tally(events) {
  const seconds = new Map();
  const failed = [];
  let skippedSuites = 0;
  let emptyFiles = 0;
  let counts;
  for await (const { type, data } of events) {
    const { file, details, skip, counts: counted } = data;
    if (type === "test:pass" && details.type === "suite" && skip !== undefined) skippedSuites += 1;
    if (type === "test:pass" && isFile(data)) emptyFiles += 1;
    if (type === "test:fail" && data.todo === undefined && details.error.failureType !== "subtestsFailed")
      failed.push(data);
    // A file that was ended from outside, or has no test, has no summary: it is a test of its own.
    const took = type === "test:summary" ? data.duration_ms : isFile(data) ? details?.duration_ms : undefined;
    if (file !== undefined && took !== undefined) seconds.set(relative(process.cwd(), file), took / 1000);
    if (type === "test:summary" && file === undefined) counts = counted;
  }
  if (counts) {
    const { passed, cancelled, skipped, todo } = counts;
    yield `tests ${passed - emptyFiles} ${counts.failed + cancelled} ${skipped + todo + skippedSuites + emptyFiles}\n`;
  }
  for (const [file, took] of seconds) yield `file ${took.toFixed(1)} ${file}\n`;
  for (const { name, file, line, details } of failed) {
    const reason = inspect(details.error.cause ?? details.error).slice(0, 2000);
    const text = `✖ ${name} (${relative(process.cwd(), file ?? name)}:${line ?? 1})\n${reason}`;
    yield text.replace(/^/gm, "why ") + "\n";
  }
}

function isFile({ file, name, nesting }) {
  return nesting === 0 && name !== undefined && resolve(name) === file;
}
