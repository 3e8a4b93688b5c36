import assert from "node:assert/strict";
import { test } from "node:test";
import { withPlainNames } from "./plain-names.ts";

const tool = (name: string) => ({ name, description: "", parameters: {} });
const user = { role: "user", content: "go" } as const;

test("names that services refuse are written otherwise, everywhere, and come back as they were", () => {
  const names = ["fs.read", "fs_read", "plain", "a.".repeat(40), "fs/read"];
  const call = { id: "1", name: "fs.read", arguments: "{}" };
  const { request, restored } = withPlainNames({
    messages: [
      user,
      { role: "assistant", content: "", calls: [call, { ...call, id: "2", name: "gone.by" }] },
      { role: "tool", callId: "1", name: "fs.read", content: "x" },
    ],
    tools: names.map(tool),
    toolChoice: { name: "fs.read" },
  });
  const sent = request.tools!.map(({ name }) => name);
  for (const name of sent) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
  assert.equal(new Set(sent).size, names.length);
  assert.deepEqual(sent.slice(1, 3), ["fs_read", "plain"]);
  const [, said, result] = request.messages;
  assert.ok(said?.role === "assistant" && result?.role === "tool");
  assert.deepEqual([said.calls![0]!.name, said.calls![1]!.name, result.name], [sent[0], "gone_by", sent[0]]);
  assert.deepEqual(request.toolChoice, { name: sent[0] });
  const back = restored!(sent.map((name, index) => ({ type: "call-start", index, id: "c", name })));
  assert.deepEqual(
    back.map((part) => part.type === "call-start" && part.name),
    names,
  );
});

test("a request whose names are plain is sent as it is", () => {
  const given = { messages: [user], tools: [tool("fs_read")] };
  assert.equal(withPlainNames(given).request, given);
});
