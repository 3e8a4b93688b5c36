import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Finding } from "../src/protocol/people/overview.ts";
import type { Colloquy } from "../src/main.ts";
import { asker } from "./accounts.ts";
import type { List, Refusal, View } from "./defining.ts";
import { askModel, startDefining, writeAgentAndRoom, writeDefinitionsFile } from "./defining.ts";
import { anyDatabase, type Place } from "./databases.ts";
import { connectMcp } from "./mcp-client.ts";
import { startRaw, type RawServer } from "./mcp-servers.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { temporaryFolder } from "./pglite.ts";

const key = "sk-very-secret-key";
const nobody = "018f0000-0000-7000-8000-00000000dead";

anyDatabase((databases) =>
  describe("definitions", () => {
    let place: Place;
    let folder: string;
    let served: ModelServer;
    let raw: RawServer;
    let one: Colloquy;
    /** Another node of the same database; PGlite has none. */
    let two: Colloquy | undefined;
    let ask: ReturnType<typeof asker>;

    const start = () => startDefining(place, folder);
    const writeConfig = (more = "") => writeDefinitionsFile(folder, { url: served.url, key }, more);

    before(async () => {
      place = await databases.place();
      folder = temporaryFolder("definitions");
      served = await startModelServer({ key, models: ["served", "other"] });
      raw = await startRaw(
        [{ name: "add", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
        (m) => (m.method === "tools/call" ? { result: { content: [{ type: "text", text: "added" }] } } : undefined),
      );
      writeAgentAndRoom(folder);
      writeConfig();
      one = await start();
      if (databases.kind === "postgres") two = await start();
      ask = asker(one.url);
    });
    after(() => Promise.all([one.stop(), two?.stop(), served.close(), raw.close()]));

    const get = async <Body>(path: string, url = one.url): Promise<Body> => {
      const { status, body } = await asker(url)<Body>("GET", path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const idsOf = async (path: string, url = one.url) =>
      (await get<{ data: { id?: string; name?: string }[] }>(path, url)).data.map(({ id, name }) => id ?? name ?? "");
    /** On this node it is so at once, on the other one soon. */
    const everywhere = async (isSo: (url: string) => Promise<boolean>) => {
      assert.ok(await isSo(one.url), "on the node that was asked");
      while (two && !(await isSo(two.url))) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const create = async (kind: string, id: string, definition: object): Promise<View> => {
      const { status, body } = await ask<View>("POST", `/api/admin/${kind}`, { body: { id, definition } });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    };
    const refused = async (method: string, path: string, body: object) => {
      const answer = await ask<Refusal>(method, path, { body });
      const { code, problems = [], message } = answer.body.error;
      return { status: answer.status, code, paths: problems.map((one) => one.path), message };
    };
    const chat = (model: string, url = one.url) => askModel(url, model);
    const remote = () => ({ provider: "openai", baseUrl: `${served.url}/v1`, model: "served", apiKey: key });

    test("a model is found by its address, tried, kept with its key sealed, and asked at once on every node", async () => {
      type Found = { provider: string; baseUrl: string; models: string[]; reach: string; tried: { outcome: string }[] };
      const find = async (body: object) => (await ask<Found>("POST", "/api/admin/models/find", { body })).body;
      const found = await find({ baseUrl: `${served.url}/v1/`, apiKey: key });
      assert.deepEqual(found.models, ["served", "other"]);
      assert.equal(found.reach, "this machine");
      const locked = await find({ baseUrl: served.url });
      assert.deepEqual([locked.provider, locked.models], [null, []]);
      assert.match(locked.tried[0]!.outcome, /wants a key/);
      assert.match((await find({ baseUrl: "http://127.0.0.1:9" })).tried[0]!.outcome, /nothing listens/);

      type Trial = { ok: boolean; text?: string; firstPartMs?: number; code?: string; advice?: string };
      const trial = (definition: object, prompt = "say it") =>
        ask<Trial>("POST", "/api/admin/models/try", { body: { id: "remote", definition, prompt } });
      served.answer("tried");
      const { body: tried } = await trial(remote());
      assert.deepEqual([tried.ok, tried.text], [true, "tried"]);
      assert.ok(Number.isInteger(tried.firstPartMs));
      const { body: failed } = await trial({ ...remote(), apiKey: "wrong" });
      assert.deepEqual([failed.ok, failed.code], [false, "model_auth"]);
      assert.match(failed.advice!, /check its key/);
      const away = await trial({ ...remote(), baseUrl: "http://127.0.0.1:9" });
      assert.equal(away.body.code, "model_unreachable");
      assert.ok(!(await idsOf("/v1/models")).includes("remote"), "nothing was kept");

      const made = await create("models", "remote", remote());
      assert.deepEqual(
        [made.source, made.state, made.readOnly, made.changedBy],
        ["database", "active", false, "owner"],
      );
      assert.deepEqual([made.definition["apiKey"], made.secrets], ["***", ["apiKey"]]);
      await everywhere(async (url) => (await idsOf("/v1/models", url)).includes("remote"));
      served.answer("one", "two");
      assert.equal((await chat("remote")).text, "one");
      if (two) assert.equal((await chat("remote", two.url)).text, "two");
      assert.equal(served.requests.at(-1)!.headers.authorization, `Bearer ${key}`);

      const [row] = await one.database.query<{ text: string }>("select to_jsonb(d)::text as text from definitions d");
      for (const part of [key, served.url, "served"]) assert.ok(!row!.text.includes(part), row!.text);
      const audit = async () => JSON.stringify(await get("/api/admin/audit"));
      while (!(await audit()).includes("/api/admin/models remote")) await new Promise(setImmediate);
      assert.ok(!(await audit()).includes(key));
    });

    test("a change needs the revision that was read, and goes on with the secret that is shown as ***", async () => {
      const before = await get<View>("/api/admin/models/remote");
      const put = (revision: string, definition: object) =>
        ask<View>("PUT", "/api/admin/models/remote", { body: { revision, definition } });
      const changed = await put(before.revision, { ...before.definition, model: "other" });
      assert.equal(changed.status, 200);
      assert.deepEqual(changed.body.secrets, ["apiKey"]);
      assert.equal((await put(before.revision, before.definition)).status, 409);
      const again = await Promise.all(
        ["a", "b", "c"].map((model) => put(changed.body.revision, { ...before.definition, model })),
      );
      assert.deepEqual(again.map(({ status }) => status).sort(), [200, 409, 409]);
      assert.equal((await chat("remote")).status, 200);
      assert.equal(served.requests.at(-1)!.headers.authorization, `Bearer ${key}`);

      const { revision, definition } = await get<View>("/api/admin/models/remote");
      const elsewhere = { revision, definition: { ...definition, baseUrl: "http://127.0.0.1:9/v1" } };
      const moved = await refused("PUT", "/api/admin/models/remote", elsewhere);
      assert.deepEqual([moved.status, moved.paths], [422, ["apiKey"]]);
      assert.match(moved.message, /given again/);
      const masked = await refused("POST", "/api/admin/models", {
        id: "x",
        definition: { ...remote(), apiKey: "***" },
      });
      assert.deepEqual([masked.status, masked.paths], [422, ["apiKey"]]);
    });

    test("all that is wrong is said at once, and what comes from outside is read-only", async () => {
      const model = { provider: "openai", model: "", baseUrl: "ftp://x", apikey: "${KEY}", retries: -1 };
      const invalid = await refused("POST", "/api/admin/models", { id: "bad id", definition: model });
      assert.deepEqual([invalid.status, invalid.code], [422, "definition_invalid"]);
      assert.deepEqual(invalid.paths.toSorted(), ["apikey", "baseUrl", "id", "model", "retries"]);
      assert.match(invalid.message, /Did you mean apiKey/);
      const variable = await refused("POST", "/api/admin/models", {
        id: "x",
        definition: { ...remote(), apiKey: "${KEY}" },
      });
      assert.match(variable.message, /in files only/);
      const agent = { tools: "now", limits: { step: 1 }, temperature: 1 };
      const wrongAgent = await refused("POST", "/api/admin/agents", { id: "UPPER", definition: agent });
      assert.deepEqual(wrongAgent.paths.toSorted(), ["id", "limits.step", "temperature", "tools"]);
      const stray = await refused("POST", "/api/admin/agents", {
        id: "lost",
        definition: { model: "none", strategy: "none" },
      });
      assert.deepEqual(stray.paths.toSorted(), ["model", "strategy"]);
      const server = await refused("POST", "/api/admin/mcp-servers", {
        id: "a b",
        definition: { url: raw.url, command: "x" },
      });
      assert.deepEqual(server.paths.toSorted(), ["command", "id"]);
      const clash = await refused("POST", "/api/admin/agents", { id: "remote", definition: {} });
      assert.match(clash.message, /names a model/);
      const other = await refused("POST", "/api/admin/models", { id: "assistant", definition: remote() });
      assert.match(other.message, /names an agent/);
      const chain = await refused("POST", "/api/admin/models", { id: "chain", definition: { fallback: ["nowhere"] } });
      assert.match(chain.message, /unknown model "nowhere"/);
      const room = await refused("POST", "/api/admin/agents", { id: "a_room", definition: {} });
      assert.match(room.message, /names a room/);
      await create("agents", "plain", {});
      const over = await refused("POST", "/api/admin/models", { id: "plain", definition: remote() });
      assert.match(over.message, /would put the agent "plain" out/);
      const circle = await refused("POST", "/api/admin/models", { id: "ring", definition: { fallback: ["ring"] } });
      assert.match(circle.message, /leads back to itself/);

      const filed = await get<View>("/api/admin/models/filed");
      assert.deepEqual([filed.source, filed.where, filed.readOnly], ["file", "colloquy.yaml:2", true]);
      assert.deepEqual([filed.definition["apiKey"], filed.secrets], ["***", ["apiKey"]]);
      const readOnly = { id: "filed", definition: remote() };
      assert.equal((await refused("POST", "/api/admin/models", readOnly)).code, "read_only");
      assert.equal((await refused("DELETE", "/api/admin/models/filed", {})).code, "read_only");
      const put = { revision: nobody, definition: {} };
      assert.equal((await refused("PUT", "/api/admin/agents/filed_agent", put)).code, "read_only");
      const trial = { id: "filed", definition: filed.definition };
      assert.equal((await refused("POST", "/api/admin/models/try", trial)).status, 422, "*** stands only for our own");
    });

    test("an agent is everywhere at once, tried as a run, and a run at work keeps the text that it began with", async () => {
      const definition = { model: "remote", description: "Writes", instructions: "FIRST TEXT", tools: ["now", "nowt"] };
      const made = await create("agents", "writer", definition);
      assert.deepEqual(
        (made as View & { warnings: string[] }).warnings.length,
        1,
        "a tool that is not there is told of",
      );
      for (const path of ["/api/agents", "/v1/models"])
        await everywhere(async (url) => (await idsOf(path, url)).includes("writer"));
      const mcp = await connectMcp(`${(two ?? one).url}/mcp`, { era: "2026-07-28" });
      assert.ok((await mcp.listTools()).tools.some(({ name }) => name === "ask_writer"));
      await mcp.close();

      served.answer({ calls: [{ name: "their_own", arguments: {} }] }, "SECOND ANSWER");
      const thread = await ask<{ id: string }>("POST", "/api/threads", { body: {} });
      const clientTools = [{ name: "their_own", description: "", parameters: { type: "object" } }];
      const run = await ask<{ id: string }>("POST", `/api/threads/${thread.body.id}/runs`, {
        body: { agent: "writer", message: { content: "hi" }, options: { clientTools } },
      });
      const statusOf = async () => (await get<{ status: string }>(`/api/runs/${run.body.id}`)).status;
      while ((await statusOf()) !== "waiting") await new Promise(setImmediate);
      const changed = await ask("PUT", "/api/admin/agents/writer", {
        body: { revision: made.revision, definition: { ...definition, instructions: "SECOND TEXT" } },
      });
      assert.equal(changed.status, 200);
      type Call = { kind: string; body: { id: string } };
      const items = await get<{ data: Call[] }>(`/api/threads/${thread.body.id}/items`);
      const call = items.data.find(({ kind }) => kind === "call")!;
      const results = [{ call: (call as unknown as { id: string }).id, content: "done" }];
      const brought = await ask("POST", `/api/runs/${run.body.id}/results`, { body: { results } });
      assert.equal(brought.status, 200, JSON.stringify(brought.body));
      while ((await statusOf()) !== "done") await new Promise(setImmediate);
      assert.match(JSON.stringify(served.requests.at(-1)!.body), /FIRST TEXT/);

      served.answer("tried");
      const tried = await ask<{ id: string }>("POST", "/api/admin/agents/writer/try", { body: { prompt: "go" } });
      assert.equal(tried.status, 202);
      const { body: events } = await ask<string>("GET", `/api/runs/${tried.body.id}/events`);
      assert.match(events, /tried/);
      assert.match(JSON.stringify(served.requests.at(-1)!.body), /SECOND TEXT/);

      await create("agents", "chief", { model: "remote", agents: ["*"] });
      assert.equal((await chat("chief")).status, 200);
      assert.match(JSON.stringify(served.requests.at(-1)!.body), /- writer: Writes/, "others may hand work to it");

      const file = await ask<string>("GET", "/api/admin/agents/writer/export");
      assert.match(file.headers.get("content-type")!, /^text\/markdown/);
      assert.equal(
        file.body,
        "---\ndescription: Writes\nmodel: remote\ntools:\n  - now\n  - nowt\n---\n\nSECOND TEXT\n",
      );
    });

    test("of several who define the same name at once, on several nodes, one does", async () => {
      const other = asker((two ?? one).url);
      const pairs = Array.from({ length: 4 }, (_, at) => [
        ask("POST", "/api/admin/agents", { body: { id: `raced${at}`, definition: {} } }),
        other("POST", "/api/admin/agents", { body: { id: `raced${at}`, definition: {} } }),
        other("POST", "/api/admin/models", { body: { id: `raced${at}`, definition: remote() } }),
      ]);
      for (const pair of pairs) {
        const statuses = (await Promise.all(pair)).map(({ status }) => status);
        assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses));
      }
      const all = [...(await get<List>("/api/admin/agents")).data, ...(await get<List>("/api/admin/models")).data];
      assert.deepEqual(
        all.filter(({ state }) => state !== "active").map(({ id }) => id),
        [],
      );
    });

    test("an MCP server is tried, defined, called and taken out again on every node", async () => {
      const definition = { url: raw.url, headers: { authorization: "Bearer hidden-token" } };
      type Trial = { server: { state: string; reason?: string }; tools: { name: string; effect: string }[] };
      const draft = await ask<Trial>("POST", "/api/admin/mcp-servers/try", { body: { id: "adder", definition } });
      assert.deepEqual([draft.body.server.state, draft.body.tools.map(({ name }) => name)], ["ready", ["adder_add"]]);
      const away = { id: "adder", definition: { url: "http://127.0.0.1:9/mcp" } };
      const failed = await ask<Trial>("POST", "/api/admin/mcp-servers/try", { body: away });
      assert.equal(failed.body.server.state, "failed");
      assert.ok(failed.body.server.reason);

      const made = await create("mcp-servers", "adder", definition);
      assert.deepEqual(made.definition["headers"], { authorization: "***" });
      const [row] = await one.database.query<{ text: string }>(
        "select to_jsonb(d)::text as text from definitions d where id = 'adder'",
      );
      assert.ok(!row!.text.includes("hidden-token"));
      const tried = await ask<Trial>("POST", "/api/admin/mcp-servers/adder/try");
      assert.deepEqual(tried.body.tools, [
        {
          name: "adder_add",
          description: "The tool add of adder.",
          effect: "read",
          destructive: false,
          parameters: tried.body.tools[0] && (tried.body.tools[0] as { parameters?: unknown }).parameters,
        },
      ]);
      const called = await ask<{ result: { content: string } }>("POST", "/api/tools/adder_add/calls", { body: {} });
      assert.equal(called.body.result.content, "added");
      if (two) {
        const second = asker(two.url);
        while ((await second("GET", "/api/admin/mcp-servers/adder")).status === 404) await new Promise(setImmediate);
        assert.equal((await second<Trial>("POST", "/api/admin/mcp-servers/adder/try")).body.server.state, "ready");
      }
      assert.equal((await ask("DELETE", "/api/admin/mcp-servers/adder?revision=" + nobody)).status, 409);
      assert.equal((await ask("DELETE", "/api/admin/mcp-servers/adder?revision=" + made.revision)).status, 204);
      await everywhere(async (url) => !(await idsOf("/api/tools/list", url)).includes("adder_add"));
    });

    test("the defaults are what an admin says, and what others need is not deleted unasked", async () => {
      type Default = { of: string; value: string | null; source: string; readOnly: boolean };
      const defaults = async () => (await get<{ data: Default[] }>("/api/admin/defaults")).data;
      assert.deepEqual(
        (await defaults()).map(({ of, value, source }) => [of, value, source]),
        [
          ["agent", null, "built-in"],
          ["model", "filed", "built-in"],
        ],
      );
      const set = (of: string, value: string) => ask<Default>("PUT", `/api/admin/defaults/${of}`, { body: { value } });
      assert.deepEqual((await set("model", "remote")).body.source, "database");
      assert.equal((await set("agent", "writer")).body.value, "writer");
      assert.equal((await set("model", "nothing")).status, 422);
      served.answer("by default");
      const seen = served.requests.length;
      assert.equal((await chat("default")).text, "by default");
      const { data: found } = await get<{ data: readonly Finding[] }>("/api/admin/doctor");
      assert.match(found.find(({ about }) => about === "model")!.text, /^[\w-]+, as an admin has set it$/);
      const { model } = (await get<View>("/api/admin/models/remote")).definition;
      assert.equal(served.requests[seen]!.body["model"], model);

      const inUse = await refused("DELETE", "/api/admin/models/remote", {});
      assert.equal(inUse.code, "in_use");
      assert.match(inUse.message, /default.*agent writer/);
      assert.equal((await ask<Default>("DELETE", "/api/admin/defaults/model")).body.value, "filed");
    });

    test("after a restart all is as it was; what a file defines then puts the database's aside, and says so", async () => {
      await one.database.query(
        `insert into definitions (kind, id, revision, body, sealed) values
         ('model', 'broken', $1, null, 'x'), ('agent', 'old', $1, '{"strategy": 5}'::jsonb, null)`,
        [nobody],
      );
      await Promise.all([one.stop(), two?.stop()]);
      two = undefined;
      writeFileSync(join(folder, "agents", "writer.md"), "---\nmodel: filed\n---\nFROM A FILE\n");
      writeConfig("defaultAgent: filed_agent\n");
      one = await start();
      ask = asker(one.url);
      assert.equal((await chat("remote")).status, 200);
      const { data: defaults } = await get<{ data: object[] }>("/api/admin/defaults");
      assert.partialDeepStrictEqual(defaults[0], {
        ...{ of: "agent", value: "filed_agent", readOnly: true, source: "file", where: "colloquy.yaml:6" },
      });
      assert.equal((await refused("PUT", "/api/admin/defaults/agent", { value: "writer" })).code, "read_only");
      const listed = await get<{ data: { id: string; isDefault: boolean }[] }>("/api/agents");
      assert.deepEqual(
        listed.data.filter(({ isDefault }) => isDefault).map(({ id }) => id),
        ["filed_agent"],
      );
      const of = async (kind: string, id: string) =>
        (await get<List>(`/api/admin/${kind}`)).data.filter((entry) => entry.id === id);
      const [broken] = await of("models", "broken");
      assert.deepEqual([broken!.state, broken!.definition, broken!.createdBy], ["refused", null, null]);
      assert.match(broken!.problems[0]!.message, /can't be decrypted with this server's secret/);
      const mended = { revision: nobody, definition: remote() };
      assert.equal((await ask<View>("PUT", "/api/admin/models/broken", { body: mended })).body.state, "active");
      assert.deepEqual(
        (await of("agents", "old"))[0]!.problems.map(({ path }) => path),
        ["strategy"],
      );
      const both = await of("agents", "writer");
      assert.deepEqual(
        both.map(({ source, state }) => [source, state]),
        [
          ["file", "active"],
          ["database", "shadowed"],
        ],
      );
      assert.match(both[0]!.where!, /agents\/writer\.md$/);
      assert.match(both[1]!.problems[0]!.message, /writer\.md defines this id/);
      const kept = await get<View>("/api/admin/agents/writer?source=database");
      assert.equal(kept.definition["instructions"], "SECOND TEXT");
      const { data } = await get<{ data: readonly Finding[] }>("/api/admin/doctor");
      assert.ok(data.some(({ about, text }) => about === "defined" && /writer is shadowed/.test(text)));
      assert.equal((await ask("DELETE", "/api/admin/agents/writer")).status, 204);
      assert.equal((await of("agents", "writer")).length, 1);

      // The configuration is read again while the server runs.
      await create("mcp-servers", "later", { url: raw.url });
      writeConfig(`  later: { url: "${raw.url}" }\ndefaultAgent: filed_agent\n`);
      while ((await of("mcp-servers", "later")).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(
        (await of("mcp-servers", "later")).map(({ source, state, where }) => [source, state, where]),
        [
          ["file", "active", "colloquy.yaml:6"],
          ["database", "shadowed", null],
        ],
      );
    });
  }),
);
