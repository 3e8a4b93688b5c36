import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

async function fill(count: number): Promise<void> {
  const bulk_stories = Array.from({ length: count }, (_, index) => `Story ${index + 1}`).join("\n");
  await call(taiga, "POST /userstories/bulk_create", { as: "bruno", body: { project_id: 2, bulk_stories } });
}

const list = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  call(taiga, `GET /userstories?${query}`, { as: "bruno", headers });

test("pages of 30 with the addresses of their neighbours", async () => {
  await fill(65);
  const first = await list("project=2");
  assert.equal(first.rows.length, 30);
  const header = (name: string) => first.headers.get(name);
  assert.deepEqual(
    ["x-paginated", "x-paginated-by", "x-pagination-count", "x-pagination-current", "x-pagination-prev"].map(header),
    ["true", "30", "65", "1", null],
  );
  assert.equal(header("x-pagination-next"), `${taiga.api}/userstories?project=2&page=2`);
  const middle = await list("project=2&page=2");
  assert.equal(middle.headers.get("x-pagination-prev"), `${taiga.api}/userstories?project=2&page=1`);
  const last = await list("project=2&page=last");
  assert.deepEqual([last.rows.length, last.headers.get("x-pagination-current")], [5, "3"]);
  assert.equal(last.headers.get("x-pagination-next"), null);
});

test("other sizes, up to 1000; a page beyond the last is a 404", async () => {
  await fill(12);
  const ten = await list("project=2&page_size=10&page=2");
  assert.deepEqual([ten.rows.length, ten.headers.get("x-paginated-by")], [2, "10"]);
  assert.equal((await list("project=2&page_size=5000")).headers.get("x-paginated-by"), "1000");
  assert.equal((await list("project=2&page_size=none")).headers.get("x-paginated-by"), "30");
  const beyond = await list("project=2&page=9");
  assert.equal(beyond.status, 404);
  assert.deepEqual(beyond.body, { _error_message: "Invalid page (9): That page contains no results" });
  assert.equal((await list("project=2&page=x")).status, 404);
  assert.equal((await list("project=1&milestone=1")).rows.length, 0);
});

test("x-disable-pagination gives all without headers, x-lazy-pagination no count", async () => {
  await fill(40);
  const all = await list("project=2", { "x-disable-pagination": "True" });
  assert.deepEqual([all.rows.length, all.headers.get("x-paginated")], [40, null]);
  const lazy = await list("project=2", { "x-lazy-pagination": "True" });
  assert.deepEqual([lazy.headers.get("x-pagination-count"), lazy.headers.get("x-paginated")], [null, "true"]);
});

test("filters of stories", async () => {
  const refs = async (query: string) => (await list(`project=1&${query}`)).rows.map((row) => row["ref"]);
  taiga.state.edit(taiga.state.story(1), { status: 5, assigned_to: 2 });
  taiga.state.edit(taiga.state.story(3), { status: 5, tags: ["import", "late"] });
  assert.deepEqual(await refs(""), [1, 4, 6]);
  assert.deepEqual(await refs("milestone=2"), [1, 4]);
  assert.deepEqual(await refs("milestone=null"), [6]);
  assert.deepEqual(await refs("milestone__isnull=true"), [6]);
  assert.deepEqual(await refs("status=5"), [1, 6]);
  assert.deepEqual(await refs("status=1,5&exclude_status=1"), [1, 6]);
  assert.deepEqual(await refs("status__is_closed=true"), [1, 6]);
  assert.deepEqual(await refs("is_closed=true"), [6]);
  assert.deepEqual(await refs("assigned_to=2"), [1]);
  assert.deepEqual(await refs("assigned_to=null"), [4, 6]);
  assert.deepEqual(await refs("tags=mobile,late"), [4, 6]);
  assert.deepEqual(await refs("tags=Mobile"), []);
  assert.deepEqual(await refs("exclude_tags=mobile"), [1, 6]);
  assert.deepEqual(await refs("q=sign%20comp"), [1]);
  assert.deepEqual(await refs("q=ignore%20rules"), [6]);
  assert.deepEqual(await refs("order_by=-subject"), [1, 4, 6]);
  assert.deepEqual(await refs("order_by=subject"), [6, 4, 1]);
});

test("wrong filters are a 400, unknown ones are ignored", async () => {
  const word = await list("project=acme-app");
  assert.deepEqual([word.status, word.body["_error_message"]], [400, "'project' must be an integer value."]);
  assert.equal((await list("project=1&milestone=x")).body["_error_message"], "Error in filter params types.");
  assert.equal((await list("project=1&status=x")).status, 400);
  assert.equal((await list("project=1&colour=red")).rows.length, 3);
});

test("only references, or with the tasks", async () => {
  assert.deepEqual((await list("project=1&only_ref=true")).rows[0], { id: 1, ref: 1 });
  const [withTasks] = (await list("project=1&include_tasks=true")).rows;
  assert.deepEqual(
    (withTasks?.["tasks"] as { ref: number }[]).map((task) => task.ref),
    [2, 3],
  );
  assert.deepEqual((await list("project=1")).rows[0]?.["tasks"], []);
});

test("the backlog says how many stories it has", async () => {
  const { headers } = await list("project=1&milestone=null");
  assert.equal(headers.get("taiga-info-backlog-total-userstories"), "1");
  assert.equal(headers.get("taiga-info-userstories-without-swimlane"), "true");
});
