const pool = new Uint8Array(16 * 128);
let used = pool.length;
let lastMillis = 0;
let counter = 0;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A UUIDv7 (RFC 9562): sorts by creation time, also within one millisecond of this process.
 * Random bytes come from a pool, since a call per id is the larger part of its cost.
 */
export function newId(): string {
  if (used === pool.length) {
    // the platform's, since browsers make ids too
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += 16));
  const now = Date.now();
  if (now > lastMillis) {
    lastMillis = now;
    counter = ((random[6]! << 8) | random[7]!) & 0x7ff;
  } else if (++counter > 0xfff) {
    lastMillis++;
    counter = 0;
  }
  const time = lastMillis.toString(16).padStart(12, "0");
  let tail = hex[(random[8]! & 0x3f) | 0x80]! + hex[random[9]!]! + "-";
  for (let at = 10; at < 16; at++) tail += hex[random[at]!]!;
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${tail}`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text from outside has the form of an id; anything else would be a database error. */
export function isId(text: string): boolean {
  return uuid.test(text);
}
