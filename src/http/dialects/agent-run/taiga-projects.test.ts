import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { anyDatabase } from "../../../../test/databases.ts";
import { openTestTaiga } from "../../../../test/open-taiga.ts";
import { minutes, serveTaigaAgent, type TaigaAgent } from "../../../../test/taiga-agent.ts";
import { startTaiga, type Taiga } from "../../../../test/taiga/server.ts";
import { createTaigaClient } from "../../../client/taiga.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { Database } from "../../../store/driver/database.ts";
import { createUser } from "../../../store/people/users.ts";
import { refusalOf } from "./enter-project.ts";

anyDatabase((databases) => {
  const { kind } = databases;
  let taiga: Taiga;
  let database: Database;
  let agent: TaigaAgent;
  const logged: string[] = [];
  before(async () => {
    taiga = await startTaiga();
    database = await databases.open();
    const note = (...words: unknown[]) => void logged.push(JSON.stringify(words));
    const log = { trace: note, debug: note, info: note, warn: note, error: note, fatal: note };
    agent = await serveTaigaAgent(database, { url: taiga.url, script: ["done", "done"], log });
  });
  after(async () => {
    await agent.close();
    await taiga.close();
  });
  const desk = () => createTaigaClient({ url: agent.url });

  test(`${kind}: a person signs in, and chooses among what they may see`, async () => {
    const { needsToken, configured } = await desk().describe();
    assert.deepEqual([needsToken, configured], [true, true]);
    const login = await desk().signIn({ username: "bruno", password: "bruno-password" });
    const projects = await desk().projects(login);
    const slugs = projects.data.map(({ slug }) => slug);
    assert.ok(slugs.includes("acme-app") && !projects.more);
    assert.deepEqual(
      (await desk().projects(login, { search: "APP" })).data.map(({ slug }) => slug),
      slugs.filter((slug) => slug.includes("app")),
    );
    const sprints = await desk().sprints(login, "acme-app");
    assert.deepEqual(
      sprints.data.map(({ name, closed }) => [name, closed]),
      [
        ["Sprint 6", false],
        ["Sprint 5", false],
        ["Sprint 4", true],
      ],
    );
    assert.deepEqual([sprints.project.slug, sprints.missing], ["acme-app", []]);
    const looking = { token: taiga.tokensOf("sam").auth_token };
    assert.deepEqual((await desk().sprints(looking, "acme-app")).missing, ["add_us", "add_task"]);
  });

  test(`${kind}: what Taiga refuses is told, and no password or token is kept`, async () => {
    await assert.rejects(desk().signIn({ username: "bruno", password: "a guess" }), {
      status: 401,
      code: "taiga_login_refused",
    });
    await assert.rejects(desk().projects({ token: "worth-nothing" }), { status: 401, code: "taiga_login_refused" });
    await assert.rejects(desk().projects(undefined), { status: 401, code: "taiga_token_missing" });
    await assert.rejects(desk().sprints({ token: taiga.tokensOf("oscar").auth_token }, "acme-app"), { status: 404 });
    taiga.fail("next", { kind: "error", status: 502 });
    await assert.rejects(desk().signIn({ username: "bruno", password: "bruno-password" }), { status: 503 });
    const { desk: slow, close } = await openTestTaiga(database, { url: taiga.url });
    const signal = AbortSignal.timeout(0);
    await once(signal, "abort");
    const late = slow.projects(taiga.tokensOf("bruno").auth_token, { signal }).catch((error: unknown) => {
      throw refusalOf(error, true);
    });
    await assert.rejects(late, { status: 503, code: "taiga_unavailable" });
    await close();
    assert.doesNotMatch(logged.join(), /bruno-password|a guess/);
  });

  test(`${kind}: the latest runs are listed with project and sprint`, async () => {
    const login = { token: taiga.tokensOf("bruno").auth_token };
    const asked = { project: "acme-app", sprint: "Sprint 6", prompt: minutes };
    const first = await desk().propose(login, asked, "same");
    assert.equal(await desk().propose(login, asked, "same"), first);
    const second = await desk().propose(login, { ...asked, sprint: "Sprint 5" }, "other");
    // A turn for this person in the room of another.
    const other = await createUser(database.query, { name: "owner of a room", role: "user" });
    const room = newId();
    await database.query("insert into threads (id, user_id, title) values ($1, $2, 'a room')", [room, other.id]);
    await database.query(
      `insert into runs (id, thread_id, user_id, agent, parent_run, parent_call, root_run, status, definition_hash, caller)
       select $1, $2, user_id, agent, id, '1.0', id, 'done', definition_hash, caller from runs where id = $3`,
      [newId(), room, second],
    );
    const { data } = await desk().runs();
    assert.deepEqual(
      data.map(({ id, title }) => [id, title.split(": ")[1]]),
      [
        [second, "Sprint 5"],
        [first, "Sprint 6"],
      ],
    );
  });
});
