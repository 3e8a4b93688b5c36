import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { createClient } from "../client/client.ts";
import { serveAgents } from "../../test/serve-agents.ts";
import { createScripted, type Script, type ScriptAnswer } from "../models/demo/scripted.ts";
import { skipTmux } from "../../test/left-out.ts";
import { openTerminal } from "../../test/tmux.ts";
import { mail, sent } from "../../test/page-tools.ts";
import { findPlace } from "./chat-place.ts";
import { talkInLines } from "./start-chat.ts";

let answers: ScriptAnswer[] = [];
const script: Script = () => answers.shift() ?? "nothing more to say";
const server = await serveAgents(
  script,
  { other: createScripted(() => "the other one") },
  { tools: [mail], approval: { ask: ["send_mail"] } },
);
after(() => server.close());

const talk = [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  join(import.meta.dirname, "../../test/talk.ts"),
  server.url,
  "@assistant",
];

const client = createClient({ url: server.url });

async function inLines(input: string, { json = false } = {}): Promise<{ code: number; output: string }> {
  const place = await findPlace(client, "@assistant");
  assert.ok(place);
  const output = new PassThrough();
  const written = text(output);
  const code = await talkInLines(client, { place, version: "0.0.1", json }, { input: Readable.from([input]), output });
  output.end();
  return { code, output: await written };
}

const banner = [
  "==================================================",
  "Colloquy v0.0.1",
  "Agent: @assistant",
  "Type /quit to exit, /clear to reset, /help for more",
  "==================================================",
].join("\n");

test("into a pipe: each line is said when the one before is answered", async () => {
  answers = ["Hello.", [{ call: "calculate", arguments: { expression: "3*4" } }], "It is 12."];
  const { code, output } = await inLines("hi\nwhat is 3*4?\n");
  assert.equal(
    output,
    `${banner}

[@user]: hi

[@assistant]: Hello.

[@user]: what is 3*4?

[@assistant]: Running: calculate {"expression":"3*4"}
[result]: 12

[@assistant]: It is 12.

[System]: Goodbye!
`,
  );
  assert.equal(code, 0);
});

test("into a pipe: questions are answered by lines, and one that is not is the exit code", async () => {
  answers = [[{ call: "send_mail", arguments: { to: "ann" } }], "Done."];
  const allowed = await inLines("mail ann\ny\n");
  assert.match(allowed.output, /allow\? \[y\]es[\s\S]*\[System\]: allow[\s\S]*\[result\]: sent to ann[\s\S]*Done\./);
  assert.deepEqual([allowed.code, sent], [0, ["ann"]]);

  answers = [[{ call: "send_mail", arguments: { to: "bob" } }], "Then not."];
  const denied = await inLines("mail bob\nno he is away\n");
  assert.match(denied.output, /\n\[denied\]: .*he is away[\s\S]*Then not\./);

  answers = [[{ call: "send_mail", arguments: { to: "carl" } }], "Done."];
  const edited = await inLines('mail carl\ne\n{"to":"dora"}\n');
  assert.match(edited.output, /sent to dora/);
  assert.deepEqual(sent, ["ann", "dora"]);

  answers = [[{ call: "send_mail", arguments: { to: "eve" } }], "Done."];
  assert.equal((await inLines("mail eve\n")).code, 2);
});

test("another model may be asked", async () => {
  const { output } = await inLines("/model nonsense\n/model other\n/model\nhi\n");
  assert.match(output, /Unknown model "nonsense"[\s\S]*Switched to other\.\n    default\n    script\n  ▸ other\n/);
  assert.match(output, /\[@assistant\]: the other one\n/);
});

test("what others wrote does not steer the terminal", async () => {
  answers = ["a\u001B[2Jb\u0007\u202Ec"];
  const { output } = await inLines("hi\n");
  assert.match(output, /\[@assistant\]: abc\n/);
});

test("as lines of JSON", async () => {
  answers = [[{ call: "calculate", arguments: { expression: "1+1" } }], "Two."];
  const { output } = await inLines("1+1?\n/nonsense\n", { json: true });
  const lines = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; text?: string; result?: { content: string } });
  assert.deepEqual(
    lines.map(({ kind, text: said, result }) => [
      kind,
      ...(said === undefined ? [] : [said]),
      ...(result ? [result.content] : []),
    ]),
    [
      ["begin"],
      ["message", "1+1?"],
      ["message", ""],
      ["call"],
      ["call", "2"],
      ["message", "Two."],
      ["end"],
      ["note", "Unknown command /nonsense. Type /help for a list, or // to start a message with a slash."],
    ],
  );
});

test("on a terminal", { skip: skipTmux }, async (t) => {
  const terminal = await openTerminal(talk);
  t.after(terminal.close);
  await terminal.until(/Type \/quit/);

  await t.test("an answer is shown while it comes; Ctrl+C stops it, and what came stays", async () => {
    answers = [[{ text: "# A tale\n\nOnce **upon** a time" }, { hang: true }]];
    await terminal.type("tell me a tale", "Enter");
    await terminal.until(/Once upon a time[\s\S]*@assistant is working/);
    await terminal.type("", "C-c");
    const stopped = await terminal.until(/\[System\]: Stopped\./);
    assert.match(stopped, /\[@user\]: tell me a tale\n\n\[@assistant\]: \[stopped\]\nA tale\n\nOnce upon a time/);
  });

  await t.test(
    "/continue goes on with what was stopped, in the same run; with nothing to go on with it says so",
    async () => {
      answers = ["The end of the tale."];
      const runs = () => client.runs({ limit: 50 });
      const before = await runs();
      await terminal.type("/continue", "Enter");
      await terminal.until(/\[@assistant\]:\nThe end of the tale\./);
      const after = await runs();
      assert.deepEqual([after.length, after[0]!.id, after[0]!.status], [before.length, before[0]!.id, "done"]);
      await terminal.type("/continue", "Enter");
      await terminal.until(/No failed or stopped run here\./);
    },
  );

  await t.test("what was said meanwhile has its turn, also if the one before is stopped", async () => {
    answers = [[{ text: "Begun" }, { hang: true }], "Now to you."];
    await terminal.type("first", "Enter");
    await terminal.until(/Begun[\s\S]*@assistant is working/);
    await terminal.type("second", "Enter");
    await terminal.until(/queued: second/);
    await terminal.type("", "Escape");
    await terminal.until(/Stopped\.[\s\S]*\[@user\]: second\n\n\[@assistant\]:\nNow to you\./);
  });

  await t.test("Tab completes, a space behind it; Ctrl+C clears what is typed", async () => {
    await terminal.type("ask @ass");
    await terminal.until(/→ @assistant/);
    await terminal.type("", "Tab");
    await terminal.type("now");
    await terminal.until(/^ask @assistant now$/m);
    await terminal.type("", "C-c");
    await terminal.until(/─\n\n─/);
    await terminal.type("/hel");
    await terminal.until(/→ \/help/);
    await terminal.type("", "Tab", "Enter");
    await terminal.until(/\/resume +list recent conversations/);
  });

  await t.test("what needs a person waits for them", async () => {
    answers = [[{ call: "send_mail", arguments: { to: "fred" } }], "Fred knows."];
    await terminal.type("mail fred", "Enter");
    await terminal.until(/allow\? \[y\]es[\s\S]*needs your input/);
    await terminal.type("y", "Enter");
    const screen = await terminal.until(/Fred knows\./);
    assert.match(screen, /\[@assistant\]: Running: send_mail \{"to":"fred"\}\n\[result\]: sent to fred/);
    assert.doesNotMatch(screen, /needs your input/);
  });

  await t.test("two lines, and the last message again", async () => {
    answers = ["first", "second"];
    await terminal.type("one", "M-Enter");
    await terminal.type("two", "Enter");
    await terminal.until(/\[@user\]: one\ntwo\n\n\[@assistant\]:\nfirst/);
    await terminal.type("", "Up", "Enter");
    await terminal.until(/\[@user\]: one\ntwo\n\n\[@assistant\]:\nsecond/);
  });

  await t.test("a new beginning, and back to the old one", async () => {
    await terminal.type("/clear ", "Enter");
    await terminal.until(/second\n=+\nColloquy[^\n]*\n[^\n]*\n[^\n]*\n=+\n─/);
    answers = ["A fresh start."];
    await terminal.type("hello again", "Enter");
    await terminal.until(/A fresh start\./);
    await terminal.type("/resume 2", "Enter");
    const back = await terminal.until(/A fresh start\.[\s\S]*Fred knows\.[\s\S]*second/, "all");
    // Once from before, once as it was taken up again: nothing was drawn anew.
    assert.equal(back.split("Fred knows.").length - 1, 2);
    assert.equal(back.split("A fresh start.").length - 1, 1);
  });

  await t.test("Ctrl+C twice leaves, and nothing is left of what was typed into", async () => {
    await terminal.type("", "C-c");
    await terminal.until(/Press Ctrl\+C again to quit/);
    await terminal.type("", "C-c");
    const last = await terminal.until(/exit 0/);
    assert.match(last, /\[System\]: Goodbye!\nexit 0$/);
    assert.doesNotMatch(last, /─/);
  });
});
