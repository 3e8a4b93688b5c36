import assert from "node:assert/strict";
import { test } from "node:test";
import { ndjson, serverSentEvents, type FrameReader, LineBuffer, LineTooLong } from "./framing.ts";

/** Small and repeatable, so that a failure can be run again. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

function read(framing: FrameReader, chunks: readonly Buffer[]): void {
  const lines = new LineBuffer(1 << 20);
  for (const chunk of chunks) framing.push(lines.push(chunk));
  framing.end(lines.rest());
}

function cutUp(bytes: Buffer, next: (below: number) => number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = 1 + next(next(3) === 0 ? 200 : 5);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const alphabet = [...'aZ {}":,\\é世🌍\t', "data:", "event: x"];

test("events and lines come out the same however the reads fall", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    const payloads = Array.from(
      { length: 1 + next(8) },
      () => "x" + Array.from({ length: next(40) }, () => alphabet[next(alphabet.length)]).join(""),
    );
    const end = next(2) === 0 ? "\n" : "\r\n";
    const noise = ["", `: ping${end}`, `event: message${end}`, `id: 7${end}`, `retry: 10${end}`];
    const events = payloads
      .map((payload) => `${noise[next(noise.length)]}data:${next(2) ? " " : ""}${payload}${end}${end}`)
      .join("");
    const lines = payloads.map((payload) => payload + end + (next(4) === 0 ? end : "")).join("");
    for (const [make, text] of [
      [serverSentEvents, events],
      [ndjson, lines],
    ] as const) {
      const seen: string[] = [];
      const bytes = Buffer.from(next(3) === 0 ? text.trimEnd() : text);
      read(
        make((data) => seen.push(data)),
        cutUp(bytes, next),
      );
      assert.deepEqual(
        seen.map((data) => data.trimEnd()),
        payloads.map((payload) => payload.trimEnd()),
        `seed ${seed}`,
      );
    }
  }
});

test("data over several lines is one payload", () => {
  const seen: string[] = [];
  read(
    serverSentEvents((data) => seen.push(data)),
    [Buffer.from("data: one\ndata: two\n\ndata:\n\nevent: x\n\ndata: last")],
  );
  assert.deepEqual(seen, ["one\ntwo", "", "last"]);
});

test("a line without end is not read for ever", () => {
  const lines = new LineBuffer(100);
  lines.push(Buffer.alloc(60, "x"));
  assert.throws(() => lines.push(Buffer.alloc(60, "x")), LineTooLong);
});
