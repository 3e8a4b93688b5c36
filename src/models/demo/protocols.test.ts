import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import type { ModelMessage, ModelRequest } from "../../protocol/agents/models.ts";
import { createModels } from "../registry.ts";

const demo = createModels({ models: [] }).get("demo");
const label = "(demo model, rule-based)";
const user = (content: string): ModelMessage => ({ role: "user", content });
const search = {
  name: "rag",
  description: "Searches the documents that people have put into collections.",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};
const files = { ...search, name: "search_files", description: "Searches the files of the workspace." };

async function ask(messages: readonly ModelMessage[], more?: Partial<ModelRequest>) {
  return await collect(demo.stream({ messages, ...more }, new AbortController().signal));
}

test("what is in documents is searched there, and the advice to models is not told", async () => {
  const tools = [files, search];
  for (const question of ["Search the knowledge collection Coffee for holidays", "What do my documents say of rain?"])
    assert.deepEqual(
      (await ask([user(question)], { tools })).calls.map(({ name }) => name),
      ["rag"],
      question,
    );
  assert.equal((await ask([user("search the files for rain")], { tools })).calls[0]?.name, "search_files");
  const found =
    "[1] rules.md (collection Coffee)\nClosed.\n\nPut the number of the passage behind each statement that rests on it: [1].";
  const told = await ask(
    [
      user("What do my documents say of rain?"),
      { role: "assistant", content: "", calls: [{ id: "1", name: "rag", arguments: "{}" }] },
      { role: "tool", callId: "1", name: "rag", content: found },
    ],
    { tools },
  );
  assert.equal(told.text, `[1] rules.md (collection Coffee)  \nClosed.\n\n${label}`);
});

test("a question is searched as it was asked", async () => {
  const prompt =
    "Someone searches a collection of documents by keywords and by meaning.\n\nThe question: when is it open?";
  assert.equal((await ask([user(prompt)])).text, "when is it open?");
});

test("in a room it says one line, quotes nobody, and leaves the last word to people", async () => {
  const asked = user("[@user]: Hey @data and @code, who is our top customer?");
  const first = await ask([asked]);
  assert.equal(first.text, `I follow rules and understand little; configure a real model for more. ${label}`);
  assert.equal((await ask([user(`${String(asked.content)}\n\n[@code]: ${first.text}`)])).text, first.text);
  const answered: ModelMessage = { role: "assistant", content: first.text };
  assert.equal((await ask([asked, answered, user(`[@code]: ${first.text}`)])).text, "[pass]");
  const found = await ask([asked, answered, user('[@user]: @code search the files for "rain"')], { tools: [files] });
  assert.equal(found.calls[0]?.arguments, '{"query":"rain"}');
  const shell = {
    name: "bash",
    description: "Run a bash command in the workspace container.",
    parameters: { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] },
  };
  const [, sample = ""] = /Try "(.+)"\./.exec((await ask([asked], { tools: [shell] })).text) ?? [];
  const ran = await ask([asked, answered, user(`[@user]: @code ${sample}`)], { tools: [shell] });
  assert.equal(ran.calls[0]?.arguments, '{"cmd":"ls -a"}');
});

test("a prompt for lines of thought and action is answered in them", async () => {
  const prompt = "Your work on the request so far:\n\n(nothing yet)\n\nWrite the next step now, and nothing after it.";
  assert.match((await ask([user(`hi\n\n${prompt}`)])).text, /^Thought: .+\nFinal Answer: You said: "hi"/);
});
