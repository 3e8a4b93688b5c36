import assert from "node:assert/strict";
import { test } from "node:test";
import { createCapture } from "./captured-output.ts";

const kilobyte = 1024;

test("short output is whole, however it comes", () => {
  const capture = createCapture();
  // In the middle of a character.
  for (const byte of Buffer.from("naïve 😀\n")) capture.push(Buffer.from([byte]));
  assert.deepEqual(capture.finish(), { text: "naïve 😀\n", bytes: 12, omittedBytes: 0 });
  assert.deepEqual(createCapture().finish(), { text: "", bytes: 0, omittedBytes: 0 });
});

test("of long output the beginning and the end stay, and how much is missing is said", () => {
  const capture = createCapture();
  for (let line = 0; line < 100_000; line++) capture.push(Buffer.from(`line ${line}\n`));
  const { text, bytes, omittedBytes } = capture.finish();
  assert.equal(bytes, capture.bytes());
  assert.match(text, /^line 0\nline 1\n/);
  assert.match(text, /\nline 99998\nline 99999\n$/);
  assert.ok(text.includes(`[… ${omittedBytes} bytes left out …]`));
  assert.equal(bytes - omittedBytes, 128 * kilobyte);
});

test("one chunk larger than all that is kept", () => {
  const capture = createCapture();
  capture.push(Buffer.alloc(200 * kilobyte, "a"));
  capture.push(Buffer.from("end"));
  const { text, bytes, omittedBytes } = capture.finish();
  assert.deepEqual({ bytes, omittedBytes }, { bytes: 200 * kilobyte + 3, omittedBytes: 72 * kilobyte + 3 });
  assert.match(text, /aend$/);
});

test("what is no text is shown as such", () => {
  const capture = createCapture();
  capture.push(Buffer.from([0x41, 0xff, 0x00, 0x42]));
  assert.equal(capture.finish().text, "A\ufffd\u0000B");
});
