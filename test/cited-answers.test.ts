import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createRetrieve } from "../src/knowledge/search/retrieve.ts";
import { sourceTextOf } from "../src/app/retrieval.ts";
import type { Item, ItemOf } from "../src/protocol/threads/items.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createSearch } from "../src/store/knowledge/search.ts";
import { ragTool } from "../src/tools/basic/rag.ts";
import { anyDatabase } from "./databases.ts";
import { testKnowledge } from "./knowledge.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const answer = "It stands in water: “stands in shallow water” [1]. And it “sings at midnight on the roof” [1].";

anyDatabase((databases) => {
  const on = testKnowledge(databases);
  let serving: AgentServing;
  before(async () => {
    const { database, knowledge } = on;
    const retrieve = createRetrieve({
      database,
      knowledge,
      search: createSearch(),
      rerankers: new Map(),
      log: silentLog,
    });
    const prompt = async ({ question }: Readonly<Record<string, string>>) => `Rewrite: ${question}`;
    serving = await serveAgents(
      ({ messages }) => {
        const last = messages.at(-1)!;
        if (last.role === "user" && JSON.stringify(last.content).includes("Rewrite:")) return "heron water";
        return last.role === "user" ? [{ call: "rag", arguments: { query: "Where does the heron stand?" } }] : answer;
      },
      {},
      { database, tools: [ragTool({ retrieve, prompt })], sourceText: sourceTextOf(knowledge) },
    );
    const { id } = await knowledge.collections.create(serving.caller, { name: "birds", settings: { rewrite: true } });
    const text = "# Birds\n\nThe heron stands in shallow water.\n";
    const added = knowledge.documents.add(serving.caller, id, {
      name: "birds.md",
      source: { kind: "file" },
      bytes: (async function* () {
        yield Buffer.from(text);
      })(),
    });
    const { document } = await added;
    while ((await knowledge.documents.get(serving.caller, document.id)).status !== "ready");
  });
  after(() => serving.close());

  const post = async (path: string, body: object) => {
    const response = await fetch(serving.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response;
  };
  const chat = { model: "assistant", messages: [{ role: "user", content: "Where is the heron?" }] };

  describe("an answer from documents", () => {
    test("is checked against what its caller may read", async () => {
      const [{ id }] = (await on.database.query<{ id: string }>("select id from rag_documents limit 1")) as [
        { id: string },
      ];
      const source = { kind: "document", title: "birds.md", documentId: id } as const;
      assert.match((await sourceTextOf(on.knowledge)(serving.caller, source)) ?? "", /heron/);
      assert.equal(await sourceTextOf(on.knowledge)(on.bob, source), undefined);
    });

    test("cites them, and a quotation that is not there is flagged: in the item, its trace and Chat Completions", async () => {
      const response = await post("/v1/chat/completions", chat);
      const thread = response.headers.get("x-colloquy-thread");
      const { choices } = (await response.json()) as {
        choices: {
          message: { content: string; annotations: { type: string; file_citation: Record<string, unknown> }[] };
        }[];
      };
      const [{ message }] = choices as [(typeof choices)[0]];
      assert.equal(message.content, answer);
      assert.deepEqual(
        message.annotations.map(({ type, file_citation: { filename, found, quote, start_index, end_index } }) => [
          type,
          filename,
          found,
          quote,
          message.content.slice(start_index as number, end_index as number),
        ]),
        [
          ["file_citation", "birds.md", true, "stands in shallow water", "[1]"],
          ["file_citation", "birds.md", false, "sings at midnight on the roof", "[1]"],
        ],
      );
      const items = (await (await fetch(`${serving.url}/api/threads/${thread}/items`)).json()) as { data: Item[] };
      const result = items.data.find((item): item is ItemOf<"result"> => item.kind === "result")!;
      assert.equal(result.body.sources?.length, 1);
      assert.equal(result.body.untrusted, true);
      const said = items.data.findLast((item): item is ItemOf<"message"> => item.kind === "message")!;
      assert.deepEqual(
        said.body.citations?.map(({ found, source: { page, headings, charStart } }) => [
          found,
          page,
          headings,
          charStart,
        ]),
        [
          [true, undefined, ["Birds"], 0],
          [false, undefined, ["Birds"], 0],
        ],
      );
      const traces = await on.database.query<{ trace: { searched: string } }>(
        "select trace from rag_traces where run_id = $1",
        [result.runId],
      );
      assert.deepEqual(
        traces.map(({ trace }) => trace.searched),
        ["heron water"],
      );
    });

    test("tells a stream's citations before its end, once, where they stand in all of its text", async () => {
      const text = await (await post("/v1/chat/completions", { ...chat, stream: true })).text();
      const chunks = text
        .split("\n\n")
        .flatMap((event) => (event.startsWith("data: {") ? [JSON.parse(event.slice(6)) as Chunk] : []));
      type Chunk = {
        choices: {
          delta: { content?: string; annotations?: { file_citation: { end_index: number } }[] };
          finish_reason: string | null;
        }[];
      };
      const whole = chunks.map(({ choices }) => choices[0]!.delta.content ?? "").join("");
      const told = chunks.filter(({ choices }) => choices[0]!.delta.annotations);
      assert.equal(told.length, 1);
      const ends = told[0]!.choices[0]!.delta.annotations!.map(({ file_citation }) => file_citation.end_index);
      assert.deepEqual(
        ends.map((end) => whole.slice(end - 3, end)),
        ["[1]", "[1]"],
      );
      assert.ok(chunks.at(-1)!.choices[0]!.finish_reason);
      assert.ok(chunks.indexOf(told[0]!) < chunks.length - 1);
    });

    test("has annotations in ChatKit", async () => {
      const input = {
        content: [{ type: "input_text", text: "Where?" }],
        attachments: [],
        quoted_text: null,
        inference_options: {},
      };
      const text = await (await post("/chatkit", { type: "threads.create", params: { input }, metadata: {} })).text();
      const done = text
        .split("\n\n")
        .flatMap((event) =>
          event.startsWith("data: {") ? [JSON.parse(event.slice(6)) as Record<string, unknown>] : [],
        )
        .find(
          ({ type, item }) => type === "thread.item.done" && (item as { type: string }).type === "assistant_message",
        );
      const { content } = done!["item"] as { content: { annotations: { source: object }[] }[] };
      assert.deepEqual(
        content[0]!.annotations.map(({ source }) => source),
        [
          { type: "file", title: "birds.md", filename: "birds.md", description: "“stands in shallow water”" },
          {
            ...{ type: "file", title: "birds.md", filename: "birds.md" },
            description: "“sings at midnight on the roof” does not stand there",
          },
        ],
      );
      assert.equal(text.split("annotation_added").length - 1, 2);
    });
  });
});
