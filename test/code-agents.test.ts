import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { createModelRelay } from "../src/tools/core/model-relay.ts";
import { relayWire } from "../src/http/dialects/chat-completions/relay-wire.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { Item } from "../src/protocol/threads/items.ts";
import { filesOf } from "../src/protocol/threads/files.ts";
import { codeTools, fileTools } from "../src/tools/built-in.ts";
import { openTestPlace } from "./code-place.ts";
import { orchestratorTeam, written } from "./json-actions.ts";
import { serveAgents } from "./serve-agents.ts";

const place = await openTestPlace();
const program =
  "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\nprint([fib(i) for i in range(10)])\n";
const use = (tool: string, args: object) => written({ thought: "next", action: "use_tool", tool, args });
const final = (answer: string) => written({ thought: "enough", action: "final", answer });

suite("agents that work with code", { skip: place ? false : "no bubblewrap" }, async () => {
  let answers: ScriptAnswer[] = [];
  const team = await orchestratorTeam("default");
  const code = codeTools({
    ...place!,
    mode: "native",
    relay: createModelRelay(relayWire),
    nanocoder: undefined,
    nanocoderSeconds: 60,
    searchPath: "",
  });
  const server = await serveAgents(
    () => answers.shift() ?? "nothing is left",
    {},
    { agents: [team.orchestrator, ...team.others], tools: [...fileTools(place!.workspaces), ...code] },
  );
  after(async () => {
    await server.close();
    await place!.close();
  });
  const post = async (script: ScriptAnswer[], path: string, body: object) => {
    answers = [...script];
    const headers = { "content-type": "application/json" };
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 200);
    const threadId = response.headers.get("x-colloquy-thread")!;
    return { answer: (await response.json()) as { answer: string; events: object[] }, threadId };
  };
  const itemsOf = (threadId: string): Promise<readonly Item[]> => server.threads.listItems(server.caller, threadId, {});
  const say = (text: string) => ({ messages: [{ role: "user", content: [{ type: "text", text }] }] });

  test("write fib.py and run it, over /chat: the orchestrator hands over to the coder, who does it for real", async () => {
    const script = [
      written({
        thought: "code",
        action: "delegate",
        target_agent: "coder",
        args: { task: "Write fib.py and run it." },
      }),
      use("write_file", { path: "fib.py", content: program }),
      use("bash", { cmd: "python3 fib.py" }),
      use("run_python", { code: "from fib import fib\nlast = fib(20)" }),
      final("It works: the first ten are 0 to 34."),
    ];
    const { answer, threadId } = await post(script, "/chat", say("Write fib.py and run it."));
    assert.equal(answer.answer, "It works: the first ten are 0 to 34.");
    assert.equal(answer.events.length, 5);
    const results = (await itemsOf(threadId)).flatMap((item) => (item.kind === "result" ? [item.body.content] : []));
    assert.match(results[0]!, /^OK: Wrote \d+ chars to fib\.py/);
    assert.match(results[1]!, /^\[0, 1, 1, 2, 3, 5, 8, 13, 21, 34\]/);
    assert.match(results[2]!, /^EXEC_OK: \{'last': 6765\}/);
  });

  test("an error in the code goes back to the agent, which mends it", async () => {
    const script = [
      use("run_python", { code: "print(total / 3)" }),
      use("run_python", { code: "total = 9\nprint(total / 3)" }),
      final("3.0"),
    ];
    const { answer, threadId } = await post(script, "/chat", say("A third of nine?"));
    assert.equal(answer.answer, "3.0");
    const results = (await itemsOf(threadId)).flatMap((item) => (item.kind === "result" ? [item.body] : []));
    assert.match(results[0]!.content, /^EXEC_ERROR: NameError: name 'total' is not defined/);
    assert.equal(results[0]!.isError, true);
    assert.match(results[1]!.content, /^EXEC_OK: \{'total': 9\}\nOutput:\n3\.0/);
    const last = server.model.requests
      .at(-2)!
      .messages.map(({ content }) => String(content))
      .join("\n");
    assert.match(last, /File "<code>", line 1/, "the model saw where");
  });

  test("the files of a conversation stay in it, and results name what was made", async () => {
    const script = [use("bash", { cmd: "echo a,b > data.csv" }), final("Made.")];
    const { threadId } = await post(script, "/chat", say("Make data.csv."));
    const [made] = (await itemsOf(threadId)).flatMap((item) => (item.kind === "result" ? filesOf(item.body.data) : []));
    assert.deepEqual(made, { path: "data.csv", bytes: 4, change: "made", mediaType: "text/csv" });
    const other = await post([use("list_files", {}), final("Nothing.")], "/chat", say("What is there?"));
    const listed = (await itemsOf(other.threadId)).flatMap((item) =>
      item.kind === "result" ? [item.body.content] : [],
    );
    assert.ok(!listed[0]!.includes("data.csv"));
  });
});
