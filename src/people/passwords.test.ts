import assert from "node:assert/strict";
import { test } from "node:test";
import { dictionary } from "@zxcvbn-ts/language-common";
import { checkedPassword, createPasswords } from "./passwords.ts";

const { signal } = new AbortController();
const passwords = createPasswords({ cost: 4 });

// [what, password, bytes, refused]
const passwordsByBytes: [string, string, number, string | undefined][] = [
  ["72 letters", "a".repeat(72), 72, undefined],
  ["73 letters", "a".repeat(73), 73, "password_too_long"],
  ["18 emoji", "😀".repeat(18), 72, undefined],
  ["19 emoji: only 19 characters", "😀".repeat(19), 76, "password_too_long"],
  ["24 Chinese characters", "密".repeat(24), 72, undefined],
  ["25 Chinese characters", "密".repeat(25), 75, "password_too_long"],
  ["36 umlauts", "ä".repeat(36), 72, undefined],
  ["37 umlauts", "ä".repeat(37), 74, "password_too_long"],
  ["a family is one picture and many bytes", "👨‍👩‍👧‍👦".repeat(3), 75, "password_too_long"],
  ["7 characters", "1234567", 7, "password_too_short"],
  ["8 Chinese characters", "密码密码密码密码", 24, undefined],
  ["a NUL ends what bcrypt reads", "12345678\0whatever", 17, "password_malformed"],
  ["half a character", "12345678\ud83d", 11, "password_malformed"],
];
for (const [what, password, bytes, refused] of passwordsByBytes)
  test(`72 bytes, not characters: ${what}`, async () => {
    assert.equal(Buffer.byteLength(password), bytes);
    if (refused === undefined) return void (await passwords.hash(password, signal));
    await assert.rejects(async () => passwords.hash(password, signal), { status: 400, code: refused });
  });

for (const password of ["password", "12345678", "PassWord1", "trustno1", "iloveyou", "qwertyuiop"])
  test(`what everybody has is no password: ${password}`, async () => {
    await assert.rejects(passwords.hash(password, signal), {
      status: 400,
      code: "password_common",
      message: /most common passwords.+Choose another one/,
    });
  });

test("only what is listed itself is refused: what contains it, or is like it, may be taken", async () => {
  for (const password of ["password of a heron", "drowssap password", "trustno1 but me"])
    await passwords.hash(password, signal);
  let listed = 0;
  for (const password of dictionary["passwords-common"].slice(0, 20_000)) {
    if (password.length < 8 || listed === 100) continue;
    listed++;
    await assert.rejects(passwords.hash(password, signal), { code: "password_common" }, password);
  }
  assert.equal(listed, 100);
});

test("why a password is too long is said in numbers", () => {
  assert.throws(() => checkedPassword("密".repeat(25)), /at most 72 bytes, and this one has 75 in its 25 characters/);
});

test("a password fits its hash, on whatever keyboard it was typed, and nothing else does", async () => {
  const verify = (password: string, hash: string | null | undefined) => passwords.verify({ password, hash }, signal);
  const hash = await passwords.hash("Ärger und Öl", signal);
  assert.ok(await verify("Ärger und Öl".normalize("NFD"), hash));
  assert.ok(!(await verify("ärger und öl", hash)));
  assert.ok(!(await verify("Ärger und Öl\0more", hash)));
  assert.ok(!(await verify("nobody has this password", null)));
  assert.ok(!(await verify("nobody has this password", undefined)));
  // bcrypt would read no further than 72 bytes.
  const long = await passwords.hash("a".repeat(72), signal);
  assert.ok(!(await verify("a".repeat(73), long)));
});

test("a few are hashed at once; who leaves gives up the place, and too many are told to come back", async () => {
  const busy = createPasswords({ cost: 4 });
  const [first, leaves] = [Promise.withResolvers<void>(), new AbortController()];
  let asked = 0;
  const hold = { password: "x", hash: null, first: () => (asked++, first.promise) };
  const inside = [busy.verify(hold, signal), busy.verify(hold, signal)];
  const leaving = busy.verify(hold, leaves.signal);
  const waiting = Array.from({ length: 500 }, (_, index) => index);
  const rest = waiting
    .slice(1)
    .map(() => busy.verify({ password: "x", hash: null, first: async () => void asked++ }, signal));
  await assert.rejects(busy.verify(hold, signal), { status: 503, code: "busy" });
  leaves.abort(new Error("gone"));
  await assert.rejects(leaving, /gone/);
  assert.equal(asked, 2);
  first.resolve();
  assert.deepEqual(new Set(await Promise.all([...inside, ...rest])), new Set([false]));
  assert.equal(asked, 501);
});
