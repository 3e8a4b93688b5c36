import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { z } from "zod";
import { anyDatabase } from "../../../test/databases.ts";
import { insertRun, insertUser, type RunRows } from "../../../test/run-rows.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { searchName } from "../../tools/core/search-tools.ts";
import { createToolRegistry } from "../../tools/core/registry.ts";
import { hashOfCall } from "../limits/limits.ts";
import type { CallItem } from "../log/call-items.ts";
import type { RunWork } from "../step/work.ts";
import { directCall } from "./direct-call.ts";
import { prepareCall, toolsOf } from "./prepare-call.ts";
import { delegateName, delegateTool } from "./team.ts";

const toolOf = (name: string, more: object = {}): Tool =>
  defineTool({
    ...{ name, description: name, input: z.looseObject({ n: z.number().optional() }), effect: "write" },
    ...{ execute: () => "done", ...more },
  } as Parameters<typeof defineTool>[0]);
const callOf = (name: string, more: object = {}) =>
  ({
    id: newId(),
    kind: "call",
    step: "1",
    index: 0,
    author: null,
    ...more,
    body: { name, arguments: '{"n": 1}' },
  }) as unknown as CallItem;

const send = toolOf("send");
const sendsOut = toolOf("send", { sendsOut: true });
const [weak, strong] = [
  { driver: "docker", grade: "none" },
  { driver: "bubblewrap", grade: "strong" },
] as const;

anyDatabase((databases) => {
  let database: Database;
  let run: RunRows;

  before(async () => void (database = await databases.open()));
  beforeEach(async () => {
    for (const table of ["threads", "grants"]) await database.query(`delete from ${table}`);
    run = await insertRun(database, { userId: await insertUser(database) });
  });

  type Case = {
    tools?: readonly Tool[];
    call?: CallItem;
    items?: readonly unknown[];
    epoch?: number;
    definition?: object;
    approval?: object;
    permissions?: readonly string[];
    via?: object;
    sandbox?: object;
    duplicateOf?: CallItem;
    absent?: Readonly<Record<string, string>>;
    checkWithTool?: string;
    registered?: readonly Tool[];
  };
  const agent = { id: "boss", sandbox: "none", approval: {}, strategy: "tools", tools: ["*"] };

  function workOf({
    items = [],
    epoch = 1,
    definition = {},
    approval = {},
    permissions = ["*"],
    ...rest
  }: Case): RunWork {
    const registry = createToolRegistry(rest.registered ?? rest.tools ?? []);
    const caller = { userId: run.userId, name: "ann", role: "user", permissions, via: "session", ...rest.via };
    const taken = {
      ...{ runId: run.runId, rootRun: run.runId, epoch, caller },
      definition: { agent, tools: [], options: {}, ...definition },
    };
    const sandbox = async () => rest.sandbox ?? strong;
    return {
      taken,
      items,
      owner: run,
      runtime: { database, approval, tools: registry, sandbox },
    } as unknown as RunWork;
  }

  /** What is to become of a call: how, and what is told or asked. */
  async function prepared(given: Case = {}) {
    const { tools = [send], call = callOf("send"), duplicateOf, absent = {}, checkWithTool } = given;
    const plan = await prepareCall(workOf(given), call, {
      ...{ duplicateOf, allowed: tools, absent: new Map(Object.entries(absent)) },
      checkWithTool: async () => (checkWithTool === undefined ? undefined : { content: checkWithTool, isError: true }),
    });
    assert.equal(plan.call, call);
    if (plan.how === "answered") return [plan.how, plan.result.isError ?? false, plan.result.content];
    if (plan.how === "do") return [plan.how, plan.tool.name, plan.input];
    if (plan.how === "same") return [plan.how, plan.duplicateOf === duplicateOf];
    if (plan.how === "ask") {
      const { kind, step, index, body } = plan.question ?? {};
      if (plan.question) assert.deepEqual([kind, step, index], ["question", call.step, call.index]);
      return [plan.how, body];
    }
    return plan.how === "delegate" ? [plan.how, plan.input] : [plan.how];
  }
  const done = ["do", "send", { n: 1 }];
  const refused = (content: string) => ["answered", true, content];
  const ask = { ask: ["send"] };

  async function begin({ step = "1", index = 0, of = run } = {}) {
    await database.query(
      `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash)
       values ($1, $2, $3, $4, 'send', 'executing', gen_random_uuid(), '')`,
      [of.runId, step, index, of.userId],
    );
  }

  test("call: what is allowed is done, and what is not known is told", async () => {
    assert.deepEqual(await prepared(), done);
    assert.deepEqual(await prepared({ tools: [toolOf("other"), send] }), done);
    assert.deepEqual(await prepared({ tools: [] }), refused('Tool "send" not found. You have no tools.'));
    const bad = { ...callOf("send"), body: { name: "send", arguments: '{"n": "x"}', target: "server" } } as CallItem;
    const [how, isError, content] = await prepared({ call: bad });
    assert.deepEqual([how, isError], ["answered", true]);
    assert.match(String(content), /n:/);
  });

  test("call: of a tool that the run began with it is told why it is gone", async () => {
    const definition = { tools: [{ name: "send" }] };
    const gone = 'Tool "send" not found. You have no tools.';
    assert.deepEqual(await prepared({ tools: [], definition }), refused(gone));
    assert.deepEqual(await prepared({ tools: [], registered: [send], definition }), refused(gone), "it may be used");
    const away = { ...send, unavailable: "Its program is missing." } as Tool;
    const work = { tools: [], registered: [away], definition };
    assert.deepEqual(await prepared(work), refused("send can't be used here any more. Its program is missing."));
    assert.deepEqual(await prepared({ ...work, definition: { tools: [{ name: "other" }] } }), refused(gone));
    assert.deepEqual(
      await prepared({ tools: [], registered: [send], definition, permissions: ["tool:other"] }),
      refused("You no longer have permission to use send: it needs tool:send."),
    );
  });

  test("call: a member of the team uses its own tools, and may look for more", async () => {
    const member = { agent: { ...agent, id: "worker" }, tools: ["own"] };
    const tools = [send, toolOf("own"), toolOf(searchName)];
    const team = { definition: { team: [member] }, tools };
    assert.equal((await prepared({ ...team, call: callOf("send", { author: "worker" }) }))[0], "answered");
    for (const name of ["own", searchName])
      assert.equal((await prepared({ ...team, call: callOf(name, { author: "worker" }) }))[0], "do");
    assert.deepEqual(await prepared({ ...team, call: callOf("send", { author: "boss" }) }), done);
  });

  test("call: what an earlier process began is done with, or unknown", async () => {
    const other = await insertRun(database, { userId: run.userId });
    await begin({ of: other });
    await begin({ step: "2" });
    await begin({ index: 1 });
    const policy = { approval: { deny: ["send"] } };
    assert.equal((await prepared({ ...policy, epoch: 2 }))[0], "answered", "others were begun");
    await begin();
    assert.equal((await prepared({ ...policy, epoch: 1 }))[0], "answered", "nobody was there before");
    assert.deepEqual(await prepared({ ...policy, epoch: 2 }), done, "it was allowed then");
    const duplicateOf = callOf("send");
    assert.deepEqual(await prepared({ epoch: 2, duplicateOf }), done);
    assert.deepEqual(await prepared({ epoch: 2, tools: [] }), ["unknown"]);
    assert.deepEqual(await prepared({ epoch: 2, absent: { send: "Away." } }), ["unknown"]);
    const bad = { ...callOf("send"), body: { name: "send", arguments: "{", target: "server" } } as CallItem;
    assert.deepEqual(await prepared({ epoch: 2, call: bad }), ["unknown"]);
  });

  test("call: one whose server is away is not made, one that was made before is told again", async () => {
    const absent = { send: "Its server is away." };
    const duplicateOf = callOf("send");
    assert.deepEqual(await prepared({ absent }), refused("send was not called. Its server is away."));
    assert.deepEqual(await prepared({ absent: { other: "x" } }), done);
    assert.deepEqual(await prepared({ duplicateOf }), ["same", true]);
    assert.deepEqual(await prepared({ duplicateOf, absent }), ["same", true]);
    assert.equal((await prepared({ duplicateOf, absent, tools: [] }))[0], "answered");
  });

  test("call: a task is handed on in a team", async () => {
    const team = [{ agent: { ...agent, id: "worker" }, tools: [] }] as unknown as Parameters<typeof delegateTool>[0];
    const input = { agent: "worker", task: "go" };
    const call = {
      ...callOf(delegateName),
      body: { name: delegateName, arguments: JSON.stringify(input) },
    } as CallItem;
    const tools = [delegateTool(team), send];
    assert.deepEqual(await prepared({ tools, call, definition: { team } }), ["delegate", input]);
    assert.deepEqual(await prepared({ tools, call }), ["do", delegateName, input]);
    assert.deepEqual(await prepared({ tools, definition: { team } }), done);
    assert.deepEqual(
      await prepared({ tools, call, definition: { team, options: { dryRun: true } } }),
      refused("Delegation is not possible while writes are only planned."),
    );
  });

  test("call: code runs where its author's demand is met, and an asker's only in a strong sandbox", async () => {
    const tools = [toolOf("send", { runsCode: true, scope: "sandbox" })];
    const demands = { ...agent, sandbox: "strong" };
    const told = (id: string) =>
      refused(`The agent ${id} runs code only in a sandbox that is at least strong; docker here is none.`);
    assert.deepEqual(await prepared({ tools, sandbox: weak, definition: { agent: demands } }), told("boss"));
    assert.deepEqual(await prepared({ tools, definition: { agent: demands } }), done);
    assert.deepEqual(await prepared({ sandbox: weak, definition: { agent: demands } }), done, "it runs no code");
    const team = [
      { agent: { ...demands, id: "worker" }, tools: ["send"] },
      { agent: { ...agent, id: "other" }, tools: ["send"] },
    ];
    const by = (author: string) =>
      prepared({
        tools,
        sandbox: weak,
        definition: { team },
        call: callOf("send", { author }),
        approval: { allow: ["send"] },
      });
    assert.deepEqual(await by("worker"), told("worker"));
    assert.deepEqual(await by("other"), done);
    assert.deepEqual(await by("boss"), done);
    const [how, , content] = await prepared({ tools, sandbox: weak, via: { via: "local", scopes: ["ask"] } });
    assert.equal(how, "answered");
    assert.match(String(content), /outside a strong sandbox/);
    const [asks, question] = await prepared({ tools, sandbox: weak });
    assert.equal(asks, "ask");
    assert.match(JSON.stringify(question), /It runs in docker \(none\)\./);
    const [, plain] = await prepared({ tools, approval: { ask: ["send"] } });
    assert.doesNotMatch(JSON.stringify(plain), /It runs in/);
  });

  const question = {
    ...{ reason: "approval", text: "May send be called with these arguments?", tool: "send" },
    ...{ arguments: '{"n": 1}', argumentsHash: hashOfCall(callOf("send")) },
  };
  const asked = (more: object = {}) => ({
    kind: "question",
    id: "q",
    step: "1",
    index: 0,
    body: { ...question, ...more },
  });
  const decided = (body: object) => ({ kind: "decision", id: "d", body: { question: "q", ...body } });

  test("call: a person is asked once, and what they decide counts", async () => {
    assert.deepEqual(await prepared({ approval: ask }), ["ask", question]);
    assert.deepEqual(await prepared({ approval: { askAlways: ["send"] } }), ["ask", { ...question, eachTime: true }]);
    assert.deepEqual(await prepared({ approval: ask, items: [asked()] }), ["ask", undefined]);
    const after = (body: object, more: Case = {}) =>
      prepared({ approval: ask, items: [asked(), decided(body)], ...more });
    assert.deepEqual(await after({ decision: "allow" }), done);
    assert.deepEqual(
      await after({ decision: "allow" }, { approval: { deny: ["send"] } }),
      done,
      "it was asked about before",
    );
    assert.deepEqual(await after({ decision: "allow", arguments: '{"n": 2}' }), ["do", "send", { n: 2 }]);
    assert.deepEqual(await after({ decision: "deny" }), refused("A person did not allow this call."));
    assert.deepEqual(await after({ decision: "deny", text: "no" }), refused("A person did not allow this call: no"));
  });

  test("call: what the policy denies is not done, and nobody is asked about what can't be done", async () => {
    const denied = refused("The policy of this server does not allow send here.");
    assert.deepEqual(await prepared({ approval: { deny: ["send"] } }), denied);
    assert.deepEqual(
      await prepared({ approval: ask, checkWithTool: "There are only 2." }),
      refused("There are only 2."),
    );
    assert.deepEqual(await prepared({ checkWithTool: "There are only 2." }), done, "the tool says it itself");
  });

  test("call: what a person always allows is asked about no more, unless it is asked every time", async () => {
    await database.query("insert into grants (id, user_id, tool, pattern) values ($1, $2, 'send', $3::jsonb)", [
      ...[newId(), run.userId, JSON.stringify({ exact: question.argumentsHash })],
    ]);
    assert.deepEqual(await prepared({ approval: ask }), done);
    assert.equal((await prepared({ approval: { askAlways: ["send"] } }))[0], "ask");
    const other = { ...callOf("send"), body: { name: "send", arguments: "{}" } } as CallItem;
    assert.equal((await prepared({ approval: ask, call: other }))[0], "ask");
  });

  test("call: a dry run plans its writes, and does those that were allowed together", async () => {
    const definition = { options: { dryRun: true } };
    const call = callOf("send");
    const earlier = [callOf("read"), callOf("send"), callOf("read"), call];
    const tools = [send, toolOf("read", { effect: "read" })];
    const planned = ["answered", false, '{"planned":true,"id":"new:2"}'];
    assert.deepEqual(await prepared({ definition, call, items: earlier, tools }), planned);
    assert.deepEqual(await prepared({ definition, call, items: earlier, tools, checkWithTool: "No." }), refused("No."));
    const strange = { ...call, body: { name: "send", arguments: '{"of": "new:9"}' } } as CallItem;
    const unknown = refused("No planned write is called new:9.");
    assert.deepEqual(await prepared({ definition, call: strange, checkWithTool: "No." }), unknown);
    assert.equal((await prepared({ definition, tools, call: callOf("read") }))[0], "do");
    const allowed = callOf("send", { step: "do:new:1" });
    assert.deepEqual(await prepared({ definition, call: allowed, approval: ask }), done);
    assert.equal((await prepared({ definition, call: allowed, approval: { askAlways: ["send"] } }))[0], "ask");
    assert.equal((await prepared({ call: allowed, approval: ask }))[0], "ask", "it is no dry run");
  });

  /** Text of others stands in the thread. */
  const readOutside = (from: readonly string[] = ["mcp:mail"]) =>
    database.query(
      `insert into items (thread_id, seq, id, user_id, run_id, kind, step, body)
       values ($1, 1, $2, $3, $4, 'notice', '1', $5::jsonb)`,
      [run.threadId, newId(), run.userId, run.runId, JSON.stringify({ text: "x", untrusted: true, from })],
    );
  const why = (read: string) =>
    `This conversation has read external content (${read}), which may have prompted this action. `;

  test("call: after text from outside a person is asked before anything is passed on", async () => {
    const tools = [sendsOut];
    const approval = { allow: ["send"] };
    assert.deepEqual(await prepared({ tools, approval }), done, "nothing was read");
    await readOutside(["mcp:mail", "b", "c", "d", "e", "f"]);
    const read = ["b", "c", "d", "e", "f"];
    const text = `${why(read.join(", "))}May send be called with these arguments?`;
    const each = { ...question, text, outside: read, eachTime: true };
    assert.deepEqual(await prepared({ tools, approval }), ["ask", each]);
    assert.deepEqual(await prepared({ approval }), done, "it tells nobody");
    assert.deepEqual(await prepared({ tools, approval: { deny: ["send"] } }), [
      ...refused("The policy of this server does not allow send here."),
    ]);
    assert.deepEqual(await prepared({ tools, approval: { ...approval, allowAfterUntrusted: ["send"] } }), done);
    const always = { approval: { ...approval, askAfterUntrusted: ["send"] } };
    assert.deepEqual(await prepared(always), ["ask", each], "whether or not it tells anybody");
    assert.deepEqual(
      await prepared({ tools, approval, definition: { agent: { ...agent, strategy: directCall } } }),
      done,
    );
    const dry = { definition: { options: { dryRun: true } }, call: callOf("send", { step: "do:new:1" }) };
    assert.deepEqual(await prepared({ tools, approval, ...dry }), done, "it was allowed with the plan");
    await assert.rejects(prepared({ tools, approval, definition: { unattended: true } }), {
      code: "nobody_to_ask",
      message: /^After text from b, c, d, e, f a person is asked before send is called, and nobody is there/,
    });
    const unattended = { tools, definition: { unattended: true } };
    assert.deepEqual(await prepared({ approval, definition: { unattended: true } }), done);
    assert.deepEqual(
      await prepared({ ...unattended, approval: { allowAfterUntrusted: ["send"], allow: ["send"] } }),
      done,
    );
    const [how] = await prepared({ ...unattended, approval: { deny: ["send"] } });
    assert.equal(how, "answered", "what is denied needs nobody");
  });

  test("call: it names whom the call would tell something, but for those that may hear it here", async () => {
    await readOutside();
    const tools = [toolOf("send", { hosts: ["a.test", "b.test"] })];
    const [, body] = await prepared({ tools });
    const text = `${why("mail")}May send pass something on to a.test, b.test with these arguments?`;
    const receivers = ["a.test", "b.test"];
    assert.deepEqual(body, { ...question, text, outside: ["mail"], receivers, eachTime: true });
    await assert.rejects(prepared({ tools, definition: { unattended: true } }), {
      message: /before send passes something on to a\.test, b\.test, and/,
    });
    const here = async (receiver: string, seq: number) =>
      database.query(
        `insert into items (thread_id, seq, id, user_id, run_id, kind, body) values ($1, $2, $3, $4, $5, 'decision', $6::jsonb)`,
        [run.threadId, seq, newId(), run.userId, run.runId, JSON.stringify({ question: newId(), here: [receiver] })],
      );
    await here("a.test", 2);
    assert.deepEqual(((await prepared({ tools }))[1] as { receivers: unknown }).receivers, ["b.test"]);
    await here("b.test", 3);
    assert.deepEqual(await prepared({ tools }), done);
    const page = { ...toolOf("send", { effect: "read" }), reaches: () => "http://c.test/x" } as Tool;
    const server = { ...send, server: { name: "files" } } as unknown as Tool;
    for (const tool of [page, server]) assert.equal((await prepared({ tools: [tool] }))[0], "ask");
    const grantable = (await prepared({ tools: [page] }))[1] as object;
    assert.ok(!("eachTime" in grantable), "a person's always lifts it");
    assert.deepEqual(await prepared({ tools: [{ ...send, reaches: () => undefined } as Tool] }), done);
  });

  test("tools: those of the run's start that there still are, and the search for the others", () => {
    const tools = ["a", "b", "c", delegateName, searchName].map((name) => toolOf(name));
    const names = (definition: object, more: Case = {}) =>
      toolsOf(workOf({ tools, definition, ...more })).map(({ name }) => name);
    assert.deepEqual(names({ tools: [{ name: "a" }, { name: "gone" }] }), ["a", searchName]);
    assert.deepEqual(names({ tools: [{ name: "a" }, { name: "b" }] }, { permissions: ["tool:b"] }), ["b", searchName]);
    assert.deepEqual(names({ tools: [{ name: "a" }, { name: searchName }] }), ["a", searchName]);
    assert.deepEqual(names({ tools: [{ name: "a" }, { name: searchName }], deferred: ["b"] }), ["a", "b", searchName]);
    const search = toolsOf(workOf({ tools, definition: { tools: [{ name: "a" }], deferred: ["b"] } })).at(-1)!;
    assert.match(search.description, /They are: a, b\./);
    assert.deepEqual(names({ tools: [] }), []);
    const team = [{ agent: { ...agent, id: "worker" }, tools: [] }];
    const own = { tools: [{ name: "a" }, { name: delegateName }] };
    assert.deepEqual(names({ ...own, team }), [delegateName, "a", searchName]);
    assert.match(toolsOf(workOf({ tools, definition: { ...own, team } }))[0]!.description, /worker/);
    assert.deepEqual(names(own), ["a", delegateName, searchName]);
  });
});
