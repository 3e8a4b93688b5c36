import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { anyDatabase } from "../../../../test/databases.ts";
import { serve, type Serving } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { createApiKey, createKeyFinder } from "../../../store/people/api-keys.ts";
import { createUser } from "../../../store/people/users.ts";
import type { ConversationMessage } from "./conversation-items.ts";

type ConversationEventJson = {
  readonly type: "message_delta" | "message_complete" | "error";
  readonly content?: string;
  readonly conversation_id?: number;
  readonly message_id?: string;
  readonly status?: string;
  readonly message?: string;
};

let gate = Promise.withResolvers<void>();

function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const said = typeof last.content === "string" ? last.content : "parts";
  if (last.role === "tool") return [{ text: "I've" }, { text: " added it." }];
  if (said.startsWith("Add a task to ")) return [{ call: "add_task", arguments: { title: said.slice(14) } }];
  if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
  if (said === "fail") return [{ error: "refused", message: "I won't" }];
  return `${messages.filter(({ role }) => role === "user").length} so far`;
}

anyDatabase((databases) => {
  let local: AgentServing;
  let accounts: Serving;
  before(async () => {
    local = await serveAgents(script, {}, { database: await databases.open() });
    const keys = createKeyFinder(local.database.query);
    accounts = await serve({ ...local.services, access: { mode: "accounts", findByKey: keys.findByKey } });
  });
  after(async () => {
    await accounts.close();
    await local.close();
  });
  beforeEach(() => {
    gate = Promise.withResolvers();
  });

  async function account(name: string) {
    const user = await createUser(local.database.query, { name, role: "user" });
    const { text } = await createApiKey(local.database.query, { userId: user.id, label: "test", scopes: ["*"] });
    return { id: user.id, name, headers: { authorization: `Bearer ${text}` } };
  }

  type Asking = { readonly url?: string; readonly headers?: Record<string, string>; readonly signal?: AbortSignal };

  function post(body: object, { url = local.url, headers = {}, signal }: Asking = {}): Promise<Response> {
    return fetch(url + "/chatkit", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  async function ask(body: object, asking?: Asking) {
    const response = await post(body, asking);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const lines = text.split("\n\n").filter((line) => line.startsWith("data: "));
    const events = lines.map((line) => JSON.parse(line.slice(6)) as ConversationEventJson);
    return { response, text, events, said: events.map(({ content = "" }) => content).join(""), last: events.at(-1)! };
  }

  async function itemsOf(path: string, { url = local.url, headers = {} }: Asking = {}) {
    const response = await fetch(`${url}/chatkit/${path}`, { headers });
    const body = (await response.json()) as {
      data: ConversationMessage[];
      has_more: boolean;
      error?: { code: string };
    };
    return { status: response.status, ...body };
  }

  test("a task is added as the protocol shows it: deltas, then complete; the items keep calls with their results", async () => {
    const body = { conversation_id: 123, user_id: "user123", message: "Add a task to buy milk" };
    const { text, response, last } = await ask(body);
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(response.headers.get("x-colloquy-conversation"), "123");
    assert.match(
      text,
      /^data: \{"type":"message_delta","content":"I've"\}\n\ndata: \{"type":"message_delta","content":" added it\."\}\n\ndata: \{"type":"message_complete"/,
    );
    assert.deepEqual([last.conversation_id, last.status], [123, "done"]);

    const { data } = await itemsOf("123/items?user_id=user123");
    assert.deepEqual(
      data.map(({ role, content }) => [role, ...content.map(({ type }) => type)]),
      [
        ["user", "text"],
        ["assistant", "tool_call"],
        ["assistant", "tool_result"],
        ["assistant", "text"],
      ],
    );
    const [call, result] = [data[1]!.content[0]!, data[2]!.content[0]!];
    assert.ok(call.type === "tool_call" && result.type === "tool_result");
    assert.equal(call.tool_call_id, result.tool_call_id);
    assert.deepEqual([call.name, call.arguments], ["add_task", '{"title":"buy milk"}']);
    assert.match(result.content, /buy milk/);
    assert.equal(data.at(-1)!.id, last.message_id);
    assert.equal(new Set(data.map(({ id }) => id)).size, 4);

    await ask({ ...body, message: "thanks" });
    const later = await itemsOf("123/items?user_id=user123");
    assert.deepEqual(later.data.slice(0, 4), data);
    assert.equal(later.data.length, 6);
    const thread = response.headers.get("x-colloquy-thread")!;
    assert.deepEqual((await itemsOf(`${thread}/items`)).data, later.data);
    assert.deepEqual((await itemsOf(`${thread}/items?user_id=user123`)).data, later.data);
    assert.equal((await itemsOf(`${thread}/items?user_id=user456`)).status, 404);
    assert.deepEqual((await itemsOf(`thr_${thread.replaceAll("-", "")}/items`)).data, later.data);
  });

  test("items come in pages", async () => {
    for (const message of ["a", "b", "c"]) await ask({ conversation_id: 7, message });
    const whole = await itemsOf("7/items");
    assert.deepEqual([whole.data.length, whole.has_more], [6, false]);
    const first = await itemsOf("7/items?limit=4");
    assert.deepEqual([first.data, first.has_more], [whole.data.slice(0, 4), true]);
    const rest = await itemsOf(`7/items?limit=4&after=${first.data.at(-1)!.id}`);
    assert.deepEqual([rest.data, rest.has_more], [whole.data.slice(4), false]);
    assert.equal((await itemsOf("7/items?after=message_none")).status, 404);
  });

  test("without a conversation_id a new one is made, and told", async () => {
    const first = await ask({ user_id: "user123", message: "hi" });
    const number = first.last.conversation_id!;
    assert.ok(Number.isInteger(number) && number > 0);
    const second = await ask({ conversation_id: number, user_id: "user123", message: "again" });
    assert.equal(second.said, "2 so far");
    assert.notEqual((await ask({ user_id: "user123", message: "hi" })).last.conversation_id, number);
  });

  test("without accounts a user_id keeps conversations apart", async () => {
    for (const user_id of ["ann", "bob"])
      assert.equal((await ask({ conversation_id: 9, user_id, message: "hi" })).said, "1 so far");
    assert.equal((await ask({ conversation_id: 9, user_id: "ann", message: "hi" })).said, "2 so far");
    assert.equal((await itemsOf("9/items?user_id=ann")).data.length, 4);
    assert.equal((await itemsOf("9/items?user_id=bob")).data.length, 2);
    assert.equal((await itemsOf("9/items?user_id=cid")).status, 404);
    assert.deepEqual(await itemsOf("9/items").then(({ status, error }) => [status, error?.code]), [409, "which_user"]);
  });

  test("with accounts nobody speaks for another, and the same number is everybody's own", async () => {
    const [ann, bob] = [await account("ann"), await account("bob")];
    const as = ({ headers }: typeof ann) => ({ url: accounts.url, headers });
    const { response } = await ask({ conversation_id: 1, user_id: ann.id, message: "secret" }, as(ann));
    await ask({ conversation_id: 1, user_id: "ann", message: "again" }, as(ann));

    assert.equal((await post({ conversation_id: 1, user_id: "ann", message: "hi" }, as(bob))).status, 403);
    assert.equal((await post({ conversation_id: 1, user_id: ann.id, message: "hi" }, as(bob))).status, 403);
    assert.equal((await itemsOf("1/items?user_id=ann", as(bob))).status, 403);
    assert.equal((await itemsOf("1/items", as(bob))).status, 404);
    const thread = response.headers.get("x-colloquy-thread")!;
    assert.equal((await itemsOf(`${thread}/items`, as(bob))).status, 404);
    assert.equal((await ask({ conversation_id: 1, user_id: "bob", message: "hi" }, as(bob))).said, "1 so far");
    assert.equal((await itemsOf("1/items", as(ann))).data.length, 4);
    assert.equal((await post({ conversation_id: 1, message: "hi" }, { url: accounts.url })).status, 401);
  });

  test("in ChatKit's protocol too, nobody reaches what is another's", async () => {
    const [eve, fay] = [await account("eve"), await account("fay")];
    const send = async (type: string, params: object, { headers }: typeof eve) => {
      const response = await post({ type, params }, { url: accounts.url, headers });
      return { status: response.status, text: await response.text() };
    };
    const input = { content: [{ type: "input_text", text: "secret" }], attachments: [], inference_options: {} };
    const made = await send("threads.create", { input }, eve);
    const thread_id = /thr_[0-9a-f]{32}/.exec(made.text)![0];
    const item_id = /msg_[0-9a-f]{32}/.exec(made.text)![0];
    const action = { type: "colloquy.cancel" };
    for (const [type, params] of Object.entries({
      "threads.get_by_id": {},
      "threads.update": { title: "mine" },
      "threads.delete": {},
      "threads.add_user_message": { input },
      "threads.add_client_tool_output": { result: "x" },
      "threads.add_structured_input": { item_id, input: {} },
      "threads.retry_after_item": { item_id },
      "threads.custom_action": { action },
      "threads.sync_custom_action": { action },
      "items.list": {},
      "items.feedback": { item_ids: [item_id], kind: "positive" },
    })) {
      const { status, text } = await send(type, { thread_id, ...params }, fay);
      assert.equal(status, 404, type);
      assert.doesNotMatch(text, /secret/, type);
    }
    assert.deepEqual(JSON.parse((await send("threads.list", {}, fay)).text), { data: [], has_more: false });
    assert.match((await send("items.list", { thread_id }, eve)).text, /1 so far/);
  });

  test("a request that is sent again after its stream was cut finds its conversation and its run", async () => {
    const headers = { "idempotency-key": "conversation-1" };
    const leaving = new AbortController();
    const cut = await post({ message: "slow" }, { headers, signal: leaving.signal });
    for await (const piece of cut.body!) if (new TextDecoder().decode(piece).includes("begun")) break;
    leaving.abort();
    const again = ask({ message: "slow" }, { headers });
    gate.resolve();
    const { said, response, last } = await again;
    assert.equal(said, "begun, done");
    assert.equal(response.headers.get("x-colloquy-run"), cut.headers.get("x-colloquy-run"));
    assert.equal(String(last.conversation_id), cut.headers.get("x-colloquy-conversation"));
    assert.equal((await itemsOf(`${last.conversation_id}/items`)).data.length, 2);
  });

  test("a run that fails is told as an error", async () => {
    const { last } = await ask({ conversation_id: 11, message: "fail" });
    assert.equal(last.type, "error");
    assert.match(last.message ?? "", /^Run [0-9a-f-]{36} failed: .*I won't/);
  });

  test("what can't be right is refused", async () => {
    for (const [body, fault] of [
      [{ message: "" }, /message: /],
      [{ message: 1 }, /message: /],
      [{ message: "x", conversation_id: "123" }, /conversation_id: /],
      [{ message: "x", conversation_id: 0 }, /conversation_id: /],
      [{ message: "x", user_id: {} }, /user_id: /],
      [[], /body: must be a JSON object/],
    ] as const) {
      const response = await post(body);
      assert.equal(response.status, 400);
      assert.match(await response.text(), fault);
    }
    assert.equal((await itemsOf("999/items")).status, 404);
    assert.equal((await itemsOf("abc/items")).status, 400);
  });
});
