/** Characters that are compared; of a longer text its beginning and end, where a command reports its outcome. */
const maxLooked = 64_000;

const masks: readonly (readonly [pattern: RegExp, instead: string])[] = [
  // Dates and times: 2026-01-31T12:00:00.123Z, 31/01/2026, Mon Jan 31, 12:00:01 PM.
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?/g, "<time>"],
  [/\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b/g, "<time>"],
  [
    /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,9},? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,9} \d{1,4}(?:,? \d{4})?\b/g,
    "<time>",
  ],
  [/\b\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AP]M)?\b/gi, "<time>"],
  // Ids and addresses: UUIDs, 0x7ffe…, hashes, ULIDs.
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b0x[0-9a-f]+\b/gi, "<id>"],
  [/\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b/gi, "<id>"],
  [/\b(?=[0-9A-HJKMNP-TV-Z]*\d)[0-9A-HJKMNP-TV-Z]{26}\b/g, "<id>"],
  // Temporary files and folders.
  [/(?:\/private)?(?:\/var)?\/tmp\/[^\s"'`)\],:]+/g, "<path>"],
  [/\/var\/folders\/[^\s"'`)\],:]+/g, "<path>"],
  // Durations by their unit, and by their name: 12.3 s, 2m 5s, duration_ms: 54.2, "elapsed": 3.
  [
    /\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|milliseconds?)\b(?:,? ?\d+(?:[.,]\d+)? ?(?:ms|s|secs?|seconds?|m|mins?|minutes?)\b)*/gi,
    "<duration>",
  ],
  [
    /\b(\w{0,40}(?:duration|elapsed|uptime|latency|timestamp|time|took|_ms)\w{0,40}["']?\s{0,10}[:=]?\s{0,10})\d+(?:[.,]\d+)?/gi,
    "$1<duration>",
  ],
  // Ports, processes and numbers that count up: localhost:43121, pid 4711, "id": 17, #17.
  [/\b(localhost|\d{1,3}(?:\.\d{1,3}){3}|\]):\d{2,5}\b/g, "$1:<port>"],
  [/\b((?:port|pid|process|thread|id|\w{1,40}_id|ref)["']?\s{0,10}[:=#]?\s{0,10}["']?)\d+/gi, "$1<id>"],
  [/#\d+\b/g, "<id>"],
  [/\b\d{10,}\b/g, "<id>"],
];

/** A result without what differs from one time to the next though nothing has changed. */
export function maskVolatile(text: string): string {
  const looked =
    text.length <= maxLooked ? text : `${text.slice(0, maxLooked / 2)}${text.length}${text.slice(-maxLooked / 2)}`;
  return masks.reduce((masked, [pattern, instead]) => masked.replaceAll(pattern, instead), looked);
}
