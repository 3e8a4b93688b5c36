import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import { maskVolatile } from "./mask-volatile.ts";
import { checkRepeats } from "./repeated-calls.ts";

type Result = {
  readonly content?: string;
  readonly isError?: boolean;
  readonly outcome?: string;
  readonly data?: unknown;
};
let count = 0;

const callItem = (name: string, args = "{}", step = String(++count)) =>
  ({ kind: "call", step, index: 0, body: { name, arguments: args } }) as unknown as ItemOf<"call">;

/** A call and what it brought; `read…` only reads. */
function made(name: string, { content = "same", ...result }: Result = {}, args = "{}"): Item[] {
  const call = callItem(name, args);
  return [call, { ...call, kind: "result", body: { content, ...result } } as unknown as Item];
}
const item = (kind: string, body: object, step: string | null = null) => ({ kind, step, index: null, body }) as Item;

/** What is said against calling this once more, or several times in one answer. */
function refused(items: readonly Item[], names: readonly string[], most = 2): string | undefined {
  const options = { limits: { repeatedCall: most }, isRead: (name: string) => name.startsWith("read") };
  try {
    checkRepeats(
      items,
      names.map((name) => callItem(name)),
      options,
    );
    return undefined;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    assert.equal(code, "limit_repeated_call");
    return message.replace("The run reached its limit: ", "");
  }
}
const same = (name: string, times: string) =>
  `${name} was called with the same arguments more than ${times}, with the same result and no changes in between.`;
const inARow = (name: string, times: number) =>
  `${name} was called with the same arguments more than ${times} times in a row.`;
const times = (many: number, items: () => readonly Item[]) => Array.from({ length: many }, items).flat();

test("repeats: as often as the limit, and not once more", () => {
  const read = () => made("read");
  assert.equal(refused([], ["read"]), undefined);
  assert.equal(refused(read(), ["read"]), undefined);
  assert.equal(refused(times(2, read), ["read"]), same("read", "2 times"));
  assert.equal(refused(times(2, read), ["other"]), undefined);
  assert.equal(refused(times(2, read), ["read"], 3), undefined);
  assert.equal(refused(times(9, read), ["read"], 0), undefined, "0 is no limit");
  assert.equal(refused(read(), ["read"], 1), same("read", "once"));
});

test("repeats: what was looked at before is the same", () => {
  const first = made("read", { isError: false });
  assert.equal(refused(first, ["read"]), undefined);
  assert.equal(refused([...first, ...made("read")], ["read"]), same("read", "2 times"));
});

test("repeats: those of one answer count together", () => {
  assert.equal(refused([], ["read", "read"]), undefined);
  assert.equal(refused([], ["read", "other", "read", "read"]), same("read", "2 times"));
  assert.equal(refused(made("read"), ["read", "read"]), same("read", "2 times"));
});

test("repeats: another result, arguments or an edit between are progress", () => {
  assert.equal(refused([...made("read"), ...made("read", { content: "new" })], ["read"]), undefined);
  assert.equal(refused([...made("read"), ...made("read", {}, '{"a":1}')], ["read"]), undefined);
  const edited = () => made("edit", { content: `edit ${++count} of a file` });
  assert.equal(refused([...made("read"), ...edited(), ...made("read")], ["read"]), undefined);
  assert.equal(refused([...times(2, () => made("read")), ...edited()], ["read"]), undefined);
  const failed = () => made("edit", { content: `no ${++count}`, isError: true });
  assert.equal(refused([...made("read"), ...failed(), ...made("read")], ["read"]), same("read", "2 times"));
  const other = () => made("read_other", { content: `seen ${++count}` }, `{"n":${count}}`);
  assert.equal(refused([...made("read"), ...other(), ...made("read")], ["read"]), same("read", "2 times"));
  assert.equal(
    refused([...made("read"), ...made("press"), ...made("read"), ...made("press"), ...made("read")], ["read"]),
    same("read", "2 times"),
    "the second press is the same",
  );
});

test("repeats: what brings something new is progress, though it only reads", () => {
  const poll = (content: string) => made("read_poll", { content });
  assert.equal(refused([...poll("a"), ...made("read"), ...poll("b"), ...made("read")], ["read"]), undefined);
  assert.equal(
    refused([...poll("a"), ...poll("b"), ...made("read"), ...poll("a"), ...made("read")], ["read"]),
    same("read", "2 times"),
    "it was so before",
  );
});

test("repeats: a command says itself which files it touched", () => {
  const file = { path: "a", bytes: 1, change: "made" };
  const command = (files: unknown) => made("run", { content: `ran ${++count}`, data: { files } }, `{"n":${count}}`);
  assert.equal(refused([...made("read"), ...command([]), ...made("read")], ["read"]), same("read", "2 times"));
  assert.equal(refused([...made("read"), ...command([file]), ...made("read")], ["read"]), undefined);
  const odd = (data: unknown) => made("run", { content: `ran ${++count}`, data }, `{"n":${count}}`);
  for (const data of [null, "files", { files: "a" }, { more: [] }, undefined])
    assert.equal(refused([...made("read"), ...odd(data), ...made("read")], ["read"]), undefined, JSON.stringify(data));
  const reads = made("read_dir", { content: `dir ${++count}`, data: { files: [file] } });
  assert.equal(refused([...made("read"), ...reads, ...made("read")], ["read"]), undefined, "whatever kind it is");
});

test("repeats: a person who speaks, answers or continues begins anew", () => {
  const twice = times(2, () => made("read"));
  for (const said of [
    item("message", { role: "user", content: "on" }),
    item("state", { type: "run-resume" }),
    item("decision", { decision: "continue" }),
    item("decision", { decision: "answer" }),
  ])
    assert.equal(refused([...twice, said], ["read"]), undefined);
  for (const other of [
    item("message", { role: "assistant", content: "on" }, "9"),
    item("state", { type: "strategy" }),
    item("decision", { decision: "allow" }),
    item("message", { erased: true }),
    item("message", { role: "user", content: "on" }, "9.0/1"),
  ])
    assert.equal(refused([...twice, other], ["read"]), same("read", "2 times"));
});

test("repeats: ten in a row are too many, whatever they bring", () => {
  const poll = () => made("read", { content: `${++count} files` });
  assert.equal(refused(times(9, poll), ["read"]), undefined);
  assert.equal(refused(times(10, poll), ["read"]), inARow("read", 10));
  assert.equal(refused(times(8, poll), ["read", "read"], 3), undefined);
  assert.equal(refused(times(9, poll), ["read", "read"], 3), inARow("read", 10));
  assert.equal(refused([...times(10, poll), ...made("other")], ["read"]), undefined);
  const mixed = times(6, () => [...poll(), ...made("other", { content: String(++count) })]);
  assert.equal(refused([...mixed, ...poll()], ["read"]), undefined);
  assert.equal(refused(times(10, poll), ["other"]), undefined);
  assert.equal(refused(times(14, poll), ["read"], 15), undefined, "as many as the limit");
  assert.equal(refused(times(15, poll), ["read"], 15), inARow("read", 15));
  const said = item("message", { role: "user", content: "on" });
  assert.equal(refused([...times(10, poll), said], ["read"]), undefined);
});

test("repeats: what was not made, or has no call, does not count", () => {
  const notRun = () => made("read", { outcome: "not-run" });
  assert.equal(refused(times(9, notRun), ["read"]), undefined);
  const failed = () => made("read", { outcome: "not-run", isError: true });
  assert.equal(refused(times(2, failed), ["read"]), same("read", "2 times"));
  const unknown = () => made("read", { outcome: "unknown" });
  assert.equal(refused(times(2, unknown), ["read"]), same("read", "2 times"));
  assert.equal(
    refused(
      times(2, () => made("read").slice(1)),
      ["read"],
    ),
    undefined,
  );
  assert.equal(refused([...made("read"), ...made("read", { isError: true })], ["read"]), undefined, "another outcome");
});

test("repeats: what differs by chance is masked, each by itself", () => {
  const masked = {
    "2026-01-31": "<time>",
    "2026-01-31T12:00:00.123Z": "<time>",
    "31/01/2026": "<time>",
    "Mon Jan 31 2026": "<time>",
    "12:00:01 PM": "<time>",
    "550e8400-e29b-41d4-a716-446655440000": "<id>",
    "0x7ffe12ab": "<id>",
    "3f2a9bc": "<id>",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV": "<id>",
    "/tmp/tmpabc/out": "<path>",
    "/var/folders/zz/abc/T": "<path>",
    "12.3 s": "<duration>",
    "elapsed: 3": "elapsed: <duration>",
    "localhost:43121": "localhost:<port>",
    "pid 4711": "pid <id>",
    "#17": "<id>",
    "1234567890": "<id>",
  };
  for (const [text, told] of Object.entries(masked)) assert.equal(maskVolatile(`x ${text} y`), `x ${told} y`);
});

test("repeats: of a long text its beginning, its end and its length count", () => {
  const long = (middle: string) => `begin ${"-".repeat(40_000)}${middle}${"-".repeat(40_000)} end`;
  assert.equal(maskVolatile(long("aa")), maskVolatile(long("bb")));
  assert.notEqual(maskVolatile(long("aa")), maskVolatile(long("aaa")));
  assert.notEqual(maskVolatile(`${long("a")}x`), maskVolatile(`${long("a")}y`));
  assert.notEqual(maskVolatile(`x${long("a")}`), maskVolatile(`y${long("a")}`));
  const whole = "-".repeat(64_000);
  assert.equal(maskVolatile(whole), whole);
});
