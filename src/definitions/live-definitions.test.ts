import assert from "node:assert/strict";
import { test } from "node:test";
import { anyDatabase } from "../../test/databases.ts";
import { createAgentRegistry, createLiveAgents } from "../agents/registry.ts";
import { createModels } from "../models/registry.ts";
import { callerOf } from "../protocol/base/callers.ts";
import { silentLog } from "../protocol/base/log.ts";
import { createDefinitionStore } from "../store/definitions.ts";
import { createUser } from "../store/people/users.ts";
import { createDefinitions } from "./definitions.ts";

const secret = "a secret of tests";
const definition = { provider: "openai", model: "m", baseUrl: "http://127.0.0.1:1/v1" };

anyDatabase((databases) =>
  test("what can't be taken over keeps no node down, can be mended, and is tried again", async () => {
    const database = await databases.lend();
    const ada = callerOf(await createUser(database.query, { name: "ada", role: "admin" }), "api-key");
    const store = createDefinitionStore(database, secret);
    await store.insert(await store.stamp(), { kind: "model", id: "first" }, definition, ada.userId);

    const models = createModels({ models: [] });
    let isBroken = true;
    const told: string[] = [];
    const tell = (_: object, text: string) => void told.push(text);
    const definitions = await createDefinitions({
      database,
      secret,
      programs: false,
      pollMs: 10,
      base: {
        models: [],
        wish: {},
        choice: { models: [], ofAdmins: [], probes: [], detail: "none", demo: true },
        agents: [],
        agentFiles: new Map(),
        rooms: [],
        servers: {},
        placeOf: () => ({ source: "file", where: null }),
      },
      models: {
        ...models,
        update(all, ofAdmins) {
          if (isBroken) throw new Error("these are too odd");
          models.update(all, ofAdmins);
        },
      },
      agents: createLiveAgents(createAgentRegistry([])),
      strategies: [],
      knownNames: () => ({ agents: [], strategies: [], tools: [], toolPrefixes: [], hasModel: models.has }),
      log: { ...silentLog, warn: tell, error: tell },
    });
    assert.match(told.join(), /could not apply the database's definitions; using those of the configuration/);
    assert.equal(models.has("first"), false);

    const create = (id: string) => definitions.create("model", { id, definition }, ada);
    await assert.rejects(create("second"), /too odd/);
    await assert.rejects(definitions.remove("model", { id: "first", force: false }), /too odd/);
    const there = definitions.entries("model").flatMap(({ id, stored }) => (stored ? [id] : []));
    assert.deepEqual(there, ["second"]);

    const unfollow = await definitions.follow();
    try {
      while (database.kind === "postgres" && told.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
      isBroken = false;
      // Nobody changes anything; PGlite has no other nodes to look for.
      if (database.kind === "pglite") await create("third");
      while (!models.has("second")) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(models.has("first"), false);
    } finally {
      unfollow();
      await models.close();
    }
  }),
);
