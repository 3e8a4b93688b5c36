import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { newId } from "../../../protocol/base/ids.ts";
import { type Item, textOf } from "../../../protocol/threads/items.ts";

let server: AgentServing;
let answers = 0;
before(async () => {
  server = await serveAgents(({ messages }) => {
    const last = messages.at(-1)!;
    if (last.role === "user" && last.content === "add milk")
      return [{ call: "add_task", arguments: { title: "milk" } }];
    const said = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    return `${++answers}: ${said.join(", ")}`;
  });
});
after(() => server.close());

type BranchResponse = { readonly status: number; readonly json: Record<string, unknown> };

async function send(method: string, path: string, body?: object): Promise<BranchResponse> {
  const response = await fetch(server.url + path, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** Starts a run and waits for its end. */
async function run(threadId: string, body: object): Promise<void> {
  const started = await send("POST", `/api/threads/${threadId}/runs`, { agent: "assistant", ...body });
  assert.equal(started.status, 202, JSON.stringify(started.json));
  await (await fetch(`${server.url}/api/runs/${String(started.json["id"])}/events`)).text();
}

async function newThread(title = "t"): Promise<string> {
  return String((await send("POST", "/api/threads", { title })).json["id"]);
}

async function branch(threadId: string): Promise<{ readonly said: string[]; readonly items: readonly Item[] }> {
  const { json } = await send("GET", `/api/threads/${threadId}/branch`);
  const items = json["data"] as Item[];
  const said = items.flatMap((item) => (item.kind === "message" ? [textOf(item.body.content)] : []));
  return { said, items };
}

const messageOf = (items: readonly Item[], text: string) =>
  items.find((item) => item.kind === "message" && textOf(item.body.content) === text)!;

test("a message is edited, one is asked anew, and each branch can be gone back to", async () => {
  const threadId = await newThread();
  await run(threadId, { message: { content: "one" } });
  await run(threadId, { message: { content: "two" } });
  const first = await branch(threadId);
  const [one, , two] = first.said;
  assert.deepEqual([one, two], ["one", "two"]);

  const edited = messageOf(first.items, "two");
  await run(threadId, { message: { content: "zwei" }, instead: edited.id });
  const second = await branch(threadId);
  assert.match(second.said.at(-1)!, /: one, zwei$/);

  await run(threadId, { again: messageOf(second.items, "zwei").id });
  const third = await branch(threadId);
  assert.match(third.said.at(-1)!, /: one, zwei$/);
  assert.notEqual(third.said.at(-1), second.said.at(-1));
  const copy = messageOf(third.items, "zwei");
  assert.equal(copy.kind === "message" && copy.body.again, messageOf(second.items, "zwei").id);
  // A copy of a copy names the first, so that a page can show all answers to it side by side.
  await run(threadId, { again: copy.id });
  const fourth = messageOf((await branch(threadId)).items, "zwei");
  assert.equal(fourth.kind === "message" && fourth.body.again, messageOf(second.items, "zwei").id);

  const back = await send("PATCH", `/api/threads/${threadId}`, { leaf: edited.id });
  assert.equal(back.status, 200, JSON.stringify(back.json));
  assert.deepEqual((await branch(threadId)).said, first.said);
  await run(threadId, { message: { content: "three" } });
  assert.match((await branch(threadId)).said.at(-1)!, /: one, two, three$/);

  const all = (await send("GET", `/api/threads/${threadId}/items`)).json["data"] as Item[];
  assert.equal(all.filter((item) => item.kind === "message").length, 12);
  assert.deepEqual(
    all.map(({ seq }) => seq),
    all.map((_, at) => at + 1),
  );
});

test("choosing the branch that is shown adds nothing; a follower hears of another", async () => {
  const threadId = await newThread();
  await run(threadId, { message: { content: "a" } });
  const { items } = await branch(threadId);
  const before = (await send("GET", `/api/threads/${threadId}`)).json["lastSeq"];
  await send("PATCH", `/api/threads/${threadId}`, { leaf: items[0]!.id });
  assert.equal((await send("GET", `/api/threads/${threadId}`)).json["lastSeq"], before);

  await run(threadId, { message: { content: "b" }, instead: messageOf(items, "a").id });
  const controller = new AbortController();
  const stream = await fetch(`${server.url}/api/threads/${threadId}/events`, { signal: controller.signal });
  await send("PATCH", `/api/threads/${threadId}`, { leaf: items.at(-1)!.id });
  let text = "";
  for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('"type":"branch"') && text.endsWith("\n\n")) break;
  }
  controller.abort();
  assert.match(text, new RegExp(`"type":"branch","seq":\\d+,"leaf":"${items.at(-1)!.id}"`));
});

test("what can't be a branch is refused", async () => {
  const threadId = await newThread();
  await run(threadId, { message: { content: "a" } });
  const other = await newThread();
  await run(other, { message: { content: "b" } });
  const foreign = (await branch(other)).items[0]!.id;
  const starts: readonly (readonly [object, number])[] = [
    [{}, 400],
    [{ message: { content: "x" }, again: foreign }, 400],
    [{ again: foreign }, 404],
    [{ again: newId() }, 404],
    [{ message: { content: "x" }, instead: foreign }, 404],
  ];
  for (const [body, status] of starts)
    assert.equal(
      (await send("POST", `/api/threads/${threadId}/runs`, { agent: "assistant", ...body })).status,
      status,
      JSON.stringify(body),
    );
  assert.equal((await send("PATCH", `/api/threads/${threadId}`, { leaf: foreign })).status, 404);
  assert.equal((await send("PATCH", `/api/threads/${threadId}`, {})).status, 400);
  assert.equal((await send("PATCH", `/api/threads/${newId()}`, { leaf: foreign })).status, 404);
});

test("a thread goes on as another one, with what was said and done up to an item", async () => {
  const threadId = await newThread("Shopping");
  await run(threadId, { message: { content: "add milk" } });
  await run(threadId, { message: { content: "and bread" } });
  const source = await branch(threadId);
  const whole = await send("POST", `/api/threads/${threadId}/fork`);
  assert.equal(whole.status, 201, JSON.stringify(whole.json));
  assert.equal(whole.json["title"], "Shopping");
  const fork = String(whole.json["id"]);
  const copied = await branch(fork);
  assert.deepEqual(copied.said, source.said);
  assert.deepEqual(
    copied.items.map(({ kind, runId }) => [kind, runId]),
    source.items.filter(({ kind }) => kind !== "state").map(({ kind }) => [kind, null]),
  );
  await run(fork, { message: { content: "go on" } });
  assert.match((await branch(fork)).said.at(-1)!, /: add milk, and bread, go on$/);
  assert.deepEqual((await branch(threadId)).said, source.said);

  const upTo = messageOf(source.items, "and bread").id;
  const part = await send("POST", `/api/threads/${threadId}/fork`, { item: upTo, title: "Bread" });
  const said = (await branch(String(part.json["id"]))).said;
  assert.equal(said.at(-1), "and bread");
  assert.equal(part.json["title"], "Bread");
  assert.equal((await send("POST", `/api/threads/${threadId}/fork`, { item: newId() })).status, 404);
  // A copy of a copy holds together too.
  assert.equal((await send("POST", `/api/threads/${fork}/fork`)).status, 201);
});

test("a branch is found whole beside large ones", async () => {
  const threadId = await newThread();
  await run(threadId, { message: { content: "small" } });
  const large = "x".repeat(3_000_000);
  for (let version = 1; version <= 6; version++) {
    const { items } = await branch(threadId);
    const earlier = items.find((item) => item.kind === "message" && textOf(item.body.content).startsWith("large"));
    const instead = earlier === undefined ? {} : { instead: earlier.id };
    await run(threadId, { message: { content: `large ${version} ${large}` }, ...instead });
  }
  const { json } = await send("GET", `/api/threads/${threadId}/branch`);
  assert.equal(json["whole"], true);
  assert.equal((await branch(threadId)).said[0], "small");
});

test("threads are found by title and by words, put away and brought back", async () => {
  const threadId = await newThread("Holiday 100%_plan");
  await run(threadId, { message: { content: "Wir fahren nach Über-Lingen, it's (really) far" } });
  const search = async (text: string) => {
    const { json } = await send("GET", `/api/threads?search=${encodeURIComponent(text)}`);
    return json["data"] as { readonly id: string; readonly found?: { readonly excerpt: string } }[];
  };
  assert.equal((await search("100%_pl"))[0]!.id, threadId);
  assert.deepEqual(await search("100%xpl"), []);
  const [found] = await search("lingen fahr");
  assert.equal(found!.id, threadId);
  assert.match(found!.found!.excerpt, /nach Über-Lingen/);
  const written =
    "## Wie *man* fährt\n\n> - [x] **Zug** _nach_ [Konstanz](https://bahn.example/k?a=1)\n- `Bus` __init__ 2 * 3 * a_b_c a_b_\n\n---\n\n| Ort | Zeit |\n| --- | :-: |\n| Meersburg | 9:30 |";
  await run(threadId, { message: { content: written } });
  const read = "Konstanz Bus __init__ 2 * 3 * a_b_c a_b_ Ort · Zeit Meersburg · 9:30";
  assert.ok((await search("Konstanz"))[0]!.found!.excerpt.endsWith(` Wie man fährt Zug nach ${read}`));
  assert.equal((await search("Meersburg"))[0]!.found!.excerpt, `… ${read}`);
  await run(threadId, { message: { content: "mail user@example.com about report.pdf v1.2.3 (O'Neil)" } });
  for (const text of ["user@example.com", "report.pdf", "v1.2.3", "o'neil"])
    assert.equal((await search(text))[0]?.id, threadId, text);
  for (const odd of ["a\0b", "' | !", "(((", "\\", "it's & <->", "😀"]) await search(odd);
  assert.deepEqual(await search("zzzz"), []);

  const listed = async (query = "") => {
    const { json } = await send("GET", `/api/threads${query}`);
    return (json["data"] as { readonly id: string }[]).some(({ id }) => id === threadId);
  };
  assert.ok((await send("PATCH", `/api/threads/${threadId}`, { archived: true })).json["archivedAt"]);
  assert.deepEqual([await listed(), await listed("?archived=true")], [false, true]);
  assert.equal((await search("lingen")).length, 1);
  await send("PATCH", `/api/threads/${threadId}`, { archived: false });
  assert.deepEqual([await listed(), await listed("?archived=true")], [true, false]);
});

test("a link shows what was said until then, until it is withdrawn", async () => {
  const threadId = await newThread("Secret plans");
  assert.equal((await send("POST", `/api/threads/${threadId}/shares`)).status, 409);
  await run(threadId, { message: { content: "add milk" } });
  const made = await send("POST", `/api/threads/${threadId}/shares`, { days: 1 });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  await run(threadId, { message: { content: "later" } });

  const path = String(made.json["path"]);
  const { json } = await send("GET", path);
  const messages = json["messages"] as { readonly role: string; readonly content: string }[];
  assert.equal(messages[0]!.content, "add milk");
  assert.ok(messages.every(({ content }) => !content.includes("later")));
  assert.ok(!JSON.stringify(json).includes("add_task"));

  const listed = (await send("GET", `/api/threads/${threadId}/shares`)).json["data"] as { readonly id: string }[];
  assert.equal(listed.length, 1);
  const own = async () => (await send("GET", "/api/shares")).json["data"] as { readonly title: string }[];
  assert.deepEqual(await own(), [{ ...listed[0], title: "Secret plans" }]);
  assert.equal((await send("DELETE", `/api/shares/${listed[0]!.id}`)).status, 204);
  assert.deepEqual(await own(), []);
  assert.equal((await send("GET", path)).status, 404);
  assert.equal((await send("DELETE", `/api/shares/${listed[0]!.id}`)).status, 404);
  assert.equal((await send("GET", "/api/shared/none")).status, 404);
});

test("a thread is saved as Markdown and as JSON", async () => {
  const threadId = await newThread("Milk & more / ü");
  await run(threadId, { message: { content: "add milk" } });
  const response = await fetch(`${server.url}/api/threads/${threadId}/export`);
  assert.equal(response.headers.get("content-disposition"), 'attachment; filename="Milk-more-u.md"');
  assert.equal(response.headers.get("x-colloquy-whole"), "true");
  const text = await response.text();
  assert.match(text, /^# Milk & more \/ ü\n\n## \S+\n\nadd milk\n\n<details>\n<summary>add_task<\/summary>/);
  const { json } = await send("GET", `/api/threads/${threadId}/export?format=json`);
  assert.equal((json["thread"] as { id: string }).id, threadId);
  assert.deepEqual(
    (json["items"] as Item[]).map(({ id }) => id),
    (await branch(threadId)).items.map(({ id }) => id),
  );
});
