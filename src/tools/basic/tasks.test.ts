import assert from "node:assert/strict";
import { before, test } from "node:test";
import { z } from "zod";
import { anyDatabase } from "../../../test/databases.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { createUser } from "../../store/people/users.ts";
import { executeTool, parseCall } from "../core/call-tool.ts";
import { defineTool } from "../core/define-tool.ts";
import { createToolRegistry } from "../core/registry.ts";
import { taskTools } from "./tasks.ts";

const registry = createToolRegistry(taskTools);
let users = 0;

type CallTool = (name: string | Tool, input: unknown) => Promise<ToolResult>;

/** A new user, and how their calls are made: parsed, then in a transaction of their own. */
async function createCaller(database: Database): Promise<{ readonly userId: string; readonly call: CallTool }> {
  const { id: userId } = await createUser(database.query, { name: `user-${++users}`, role: "user" });
  const context: Omit<ToolContext, "query"> = {
    caller: { userId, name: "Ada", role: "user", permissions: [], via: "local" },
    threadId: "t",
    rootThreadId: "t",
    runId: "r",
    call: { step: "1", index: 0 },
    signal: new AbortController().signal,
    idempotencyKey: "k",
    answers: [],
    ownHeaders: () => ({}),
    step: () => Promise.reject(new Error("no model here")),
    progress: () => {},
  };
  const call: CallTool = async (name, input) => {
    const tool = typeof name === "string" ? registry.get(name) : name;
    assert.ok(tool);
    const parsed = parseCall(tool, JSON.stringify(input));
    if (!parsed.ok) return parsed.result;
    return database.transaction(async (query) => {
      const result = await executeTool(tool, parsed.input, { ...context, query });
      // The transaction goes on, with whatever the tool did.
      assert.equal((await query("select 1 as one")).length, 1);
      return result;
    });
  };
  return { userId, call };
}

const taskSchema = z.strictObject({
  id: z.int(),
  title: z.string(),
  description: z.string(),
  status: z.enum(["pending", "completed"]),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

function taskOf(result: ToolResult): z.infer<typeof taskSchema> {
  assert.equal(result.isError, undefined, result.content);
  assert.deepEqual(JSON.parse(result.content), result.data);
  return taskSchema.parse(result.data);
}

function tasksOf(result: ToolResult): z.infer<typeof taskSchema>[] {
  return z.object({ tasks: z.array(taskSchema) }).parse(result.data).tasks;
}

test("the schemas show a model no user", () => {
  const properties = Object.fromEntries(
    taskTools.map(({ name, parameters }) => [
      name,
      Object.keys(z.object({ properties: z.object({}).loose() }).parse(parameters).properties),
    ]),
  );
  assert.deepEqual(properties, {
    add_task: ["title", "description"],
    list_tasks: ["status"],
    complete_task: ["task_id"],
    update_task: ["task_id", "title", "description"],
    delete_task: ["task_id"],
  });
  assert.deepEqual(registry.get("update_task")?.parameters, {
    type: "object",
    properties: {
      task_id: {
        type: "integer",
        exclusiveMinimum: 0,
        maximum: 2_147_483_647,
        description: "The task's id, as list_tasks shows it",
      },
      title: { type: "string", minLength: 1, maxLength: 500 },
      description: { type: "string", maxLength: 10_000 },
    },
    required: ["task_id"],
    additionalProperties: false,
  });
});

const noted = { description: "x", input: z.object({}), effect: "write", scope: "local" } as const;
const insert = "insert into tasks (user_id, title) values ($1, 'half done')";

anyDatabase((databases) => {
  let database: Database;
  before(async () => {
    database = await databases.open();
  });

  test("a task is added, listed, changed, completed and deleted", async () => {
    const { call } = await createCaller(database);
    const milk = taskOf(await call("add_task", { title: "  Buy milk " }));
    assert.deepEqual([milk.title, milk.description, milk.status], ["Buy milk", "", "pending"]);
    const bread = taskOf(await call("add_task", { title: "Buy bread", description: "rye" }));
    assert.deepEqual(tasksOf(await call("list_tasks", {})), [milk, bread]);

    const changed = taskOf(await call("update_task", { task_id: bread.id, title: "Bake bread" }));
    assert.deepEqual([changed.title, changed.description], ["Bake bread", "rye"]);
    const cleared = taskOf(await call("update_task", { task_id: bread.id, description: "" }));
    assert.deepEqual([cleared.title, cleared.description], ["Bake bread", ""]);

    assert.equal(taskOf(await call("complete_task", { task_id: milk.id })).status, "completed");
    assert.equal(taskOf(await call("complete_task", { task_id: milk.id })).status, "completed");
    const idsOf = async (status: string) => tasksOf(await call("list_tasks", { status })).map(({ id }) => id);
    assert.deepEqual(await idsOf("pending"), [bread.id]);
    assert.deepEqual(await idsOf("completed"), [milk.id]);
    assert.deepEqual(await idsOf("all"), [milk.id, bread.id]);

    const deleted = await call("delete_task", { task_id: milk.id });
    assert.equal(z.object({ deleted: z.literal(true), task: taskSchema }).parse(deleted.data).task.id, milk.id);
    assert.deepEqual(await idsOf("all"), [bread.id]);
  });

  test("a task that isn't there is an error that names it", async () => {
    const { call } = await createCaller(database);
    for (const name of ["complete_task", "delete_task", "update_task"]) {
      const result = await call(name, { task_id: 2_147_483_647, ...(name === "update_task" && { title: "x" }) });
      const content = "Task 2147483647 not found. list_tasks shows the tasks there are.";
      assert.deepEqual(result, { content, isError: true });
    }
  });

  test("nobody reaches another's tasks, whatever user_id the model sends", async () => {
    const ada = await createCaller(database);
    const eve = await createCaller(database);
    const task = taskOf(await ada.call("add_task", { title: "secret" }));
    const id = { task_id: task.id, user_id: ada.userId };
    assert.equal((await eve.call("complete_task", id)).isError, true);
    assert.equal((await eve.call("delete_task", id)).isError, true);
    assert.equal((await eve.call("update_task", { ...id, title: "mine" })).isError, true);
    assert.deepEqual(tasksOf(await eve.call("list_tasks", { user_id: ada.userId })), []);
    taskOf(await eve.call("add_task", { title: "planted", user_id: ada.userId }));
    assert.deepEqual(tasksOf(await ada.call("list_tasks", {})), [task]);
  });

  test("arguments that don't fit are refused", async () => {
    const { call } = await createCaller(database);
    const refused = async (name: string, input: unknown, pattern: RegExp): Promise<void> => {
      const result = await call(name, input);
      assert.equal(result.isError, true);
      assert.match(result.content, pattern);
    };
    await refused("add_task", {}, /- title: /);
    await refused("add_task", { title: "   " }, /- title: /);
    await refused("add_task", { title: "x".repeat(501) }, /- title: /);
    await refused("add_task", { title: "x", description: "x".repeat(10_001) }, /- description: /);
    await refused("add_task", { title: "x", priority: 1 }, /Unrecognized key: "priority"/);
    await refused("update_task", { task_id: 1 }, /Give a new title or a new description/);
    for (const id of [0, -1, 1.5, "1", 2 ** 31]) await refused("complete_task", { task_id: id }, /- task_id: /);
    await refused("list_tasks", { status: "open" }, /- status: /);
    assert.deepEqual(tasksOf(await call("list_tasks", {})), []);
  });

  test("a statement that PostgreSQL refuses is the model's error, and the transaction goes on", async () => {
    const { call } = await createCaller(database);
    const result = await call("add_task", { title: "a\0b" });
    assert.equal(result.isError, true);
    assert.deepEqual(tasksOf(await call("list_tasks", {})), []);
  });

  test("a long list is cut at a whole task", async () => {
    const { userId, call } = await createCaller(database);
    await database.query("insert into tasks (user_id, title) select $1, 'task ' || n from generate_series(1, 207) n", [
      userId,
    ]);
    const result = await call("list_tasks", {});
    assert.equal(tasksOf(result).length, 200);
    assert.match(result.content, /"notListed":7\}$/);
  });

  test("a local tool that throws, fails or is too late leaves nothing behind, but the rest of the transaction", async () => {
    const { userId, call } = await createCaller(database);
    const late = Promise.withResolvers<unknown>();
    const tools = [
      defineTool({
        ...noted,
        name: "throws",
        execute: async (_, { query }) => {
          await query(insert, [userId]);
          throw new Error("no");
        },
      }),
      defineTool({
        ...noted,
        name: "fails",
        execute: async (_, { query }) => {
          await query(insert, [userId]);
          return { content: "no", isError: true };
        },
      }),
      defineTool({
        ...noted,
        name: "is_late",
        timeoutMs: 50,
        execute: async (_, { query, signal }) => {
          await query(insert, [userId]);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          // A turn later, when the call is long answered.
          setImmediate(() => query(insert, [userId]).then(late.reject, late.resolve));
          return "ignored";
        },
      }),
    ];
    for (const tool of tools) {
      const result = await call(tool, {});
      assert.equal(result.isError, true, tool.name);
      assert.equal("uncertain" in result, false, "of a local tool it is known that nothing happened");
    }
    assert.match(String(await late.promise), /takes no more statements/);
    assert.deepEqual(tasksOf(await call("list_tasks", {})), []);
    taskOf(await call("add_task", { title: "fine" }));
  });
});
