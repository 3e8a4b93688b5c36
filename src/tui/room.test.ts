import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { skipTmux } from "../../test/left-out.ts";
import { scriptOf } from "../../test/rooms.ts";
import { serveAgents } from "../../test/serve-agents.ts";
import { openTerminal } from "../../test/tmux.ts";
import { createClient } from "../client/client.ts";
import type { ScriptAnswer } from "../models/demo/scripted.ts";
import { roomFileSchema } from "../rooms/room-file.ts";
import { findPlace } from "./chat-place.ts";
import { talkInLines } from "./start-chat.ts";

const member = (id: string, activation: "always" | "mention", tools: readonly string[] = []) => ({
  id,
  activation,
  tools,
  model: "script",
  prompt: `You are @${id}.`,
});
const desk = roomFileSchema.parse({
  id: "desk",
  title: "The desk",
  members: [member("data", "always"), member("code", "mention", ["calculate"])],
});
const lines: Record<string, ScriptAnswer[]> = { data: [], code: [] };
const server = await serveAgents(
  scriptOf({ data: () => lines["data"]!.shift() ?? "[pass]", code: () => lines["code"]!.shift() ?? "[pass]" }),
  {},
  { rooms: [desk] },
);
after(() => server.close());
const client = createClient({ url: server.url });

async function inLines(input: string): Promise<string> {
  const place = await findPlace(client, "desk");
  assert.ok(place);
  const output = new PassThrough();
  const written = text(output);
  await talkInLines(client, { place, version: "0.0.1", json: false }, { input: Readable.from([input]), output });
  output.end();
  return written;
}

test("a room in lines: the banner, who says what, and the same room again", async () => {
  lines["data"] = ["@code what is 6*7?", "So it is 42."];
  lines["code"] = [[{ call: "calculate", arguments: { expression: "6*7" } }], "@data it is 42."];
  const first = await inLines("how much?\n");
  assert.equal(
    first,
    `==================================================
Multi-Agent Chatroom v0.0.1
Agents: @data, @code
Type /quit to exit, /clear to reset, /help for more
==================================================

[@user]: how much?

[@data]: @code what is 6*7?

[@code]: Running: calculate {"expression":"6*7"}
[result]: 42

[@code]: @data it is 42.

[@data]: So it is 42.

[System]: Goodbye!
`,
  );
  lines["data"] = ["As I said."];
  const second = await inLines("/agents\nonce more\n/clear\n");
  assert.match(
    second,
    /\nContinuing The desk, last message \d{4}-\d\d-\d\d \d\d:\d\d UTC\. \/clear starts a new one\.\n\n\[@user\]: how much\?/,
  );
  assert.match(second, /So it is 42\.\n[\s\S]*@code +[^\n]*mention[\s\S]*\[@data\]: As I said\.[\s\S]*A new chapter/);
  assert.doesNotMatch(await inLines("/help\n"), /So it is 42|Continuing/, "of a new chapter nothing is continued");
});

test("in lines: a stop is told once, whether all are stopped or one; who could not answer is named", async () => {
  const stopWhen = (words: RegExp, stop: (room: string) => Promise<unknown>) => {
    const output = new PassThrough();
    let seen = "";
    let isDone = false;
    output.on("data", (data: Buffer) => {
      seen += data.toString();
      if (isDone || !words.test(seen)) return;
      isDone = true;
      void findPlace(client, "desk").then((place) => stop(place!.thread()!));
    });
    return output;
  };
  const talk = async (input: string, output: PassThrough) => {
    const place = await (await findPlace(client, "desk"))!.clear();
    const written = text(output);
    await talkInLines(client, { place, version: "0.0.1", json: false }, { input: Readable.from([input]), output });
    output.end();
    return (await written).split("Type /quit")[1]!.split("=\n")[1];
  };
  lines["data"] = [[{ text: "Let me think" }, { hang: true }]];
  lines["code"] = [];
  assert.equal(
    await talk(
      "think\n",
      stopWhen(/me think/, (room) => client.rooms.interrupt(room)),
    ),
    "\n[@user]: think\n\n[@data]: Let me think [stopped]\n[System]: @data was stopped.\n\n[System]: Goodbye!\n",
  );
  lines["data"] = [[{ text: "Let me think" }, { hang: true }]];
  lines["code"] = ["I am here."];
  assert.equal(
    await talk(
      "think, or @code\n",
      stopWhen(/me think/, (room) => client.rooms.interrupt(room, "data")),
    ),
    "\n[@user]: think, or @code\n\n[@data]: Let me think [stopped]\n[System]: @data was stopped.\n\n[@code]: I am here.\n\n[System]: Goodbye!\n",
  );
  lines["data"] = [[{ error: "refused", message: "no credit" }]];
  lines["code"] = ["I can."];
  assert.match((await talk("who can? @code?\n", new PassThrough())) ?? "", /\[System\]: @data failed: .*no credit/);
});

test("on a terminal: completed names, one agent stopped, the other goes on", { skip: skipTmux }, async (t) => {
  const talk = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    join(import.meta.dirname, "../../test/talk.ts"),
  ];
  const terminal = await openTerminal([...talk, server.url, "desk"]);
  t.after(terminal.close);
  await terminal.until(/Type \/quit/);
  lines["data"] = [[{ text: "Let me think about" }, { hang: true }]];
  lines["code"] = [];
  await terminal.type("ask @co");
  await terminal.until(/→ @code/);
  await terminal.type("", "Tab");
  await terminal.type("or think", "Enter");
  await terminal.until(/Let me think about[\s\S]*@data is working/);
  await terminal.type("/stop @data ", "Enter");
  const screen = await terminal.until(/\[stopped\][\s\S]*\n─+\n\n─/);
  assert.match(screen, /\[@user\]: ask @code or think\n\n\[@data\]: \[stopped\]\nLet me think about/);
  await terminal.type("/quit ", "Enter");
  await terminal.until(/\[System\]: Goodbye!\nexit 0/);
});
