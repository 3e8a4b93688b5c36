import { loadPrompts } from "./agents/load-prompts.ts";
import { openAccess } from "./app/access.ts";
import { createAddress } from "./app/start/address.ts";
import { problemsOf, type Colloquy, type ColloquyOptions } from "./app/start/colloquy.ts";
import { openDefinitions } from "./app/definitions.ts";
import { openHttp } from "./app/http.ts";
import { openKnowledge } from "./app/knowledge.ts";
import { openLists } from "./app/lists.ts";
import { openMcp } from "./app/mcp.ts";
import { openModels } from "./app/models.ts";
import { createCapabilityStack } from "./app/start/capability-stack.ts";
import { openOverview } from "./app/overview.ts";
import { openPeople } from "./app/people.ts";
import { openToolsServer } from "./app/remote-tools.ts";
import { openRooms, serveRooms } from "./app/rooms.ts";
import { openRuns } from "./app/runs.ts";
import { openSandbox, missingSandboxFeatures } from "./app/sandbox.ts";
import { openSpace } from "./app/space.ts";
import { openSpending } from "./app/spending.ts";
import { openStore } from "./app/store.ts";
import { openTaiga } from "./app/taiga.ts";
import { openTasks } from "./app/tasks.ts";
import { openTools } from "./app/tools.ts";
import { openUploads } from "./app/uploads.ts";
import { openWebTools } from "./app/web-tools.ts";
import { openWebhooks } from "./app/webhooks.ts";
import { openWorkspaces } from "./app/workspaces.ts";
import type { Config } from "./config/schema.ts";
import { newId } from "./protocol/base/ids.ts";

export type { Colloquy };

const graceMs = 10_000;

/** Starts a server: opens its parts in order, each from the ones before it. They close in reverse order, also if the start fails. */
export async function startColloquy(config: Config, options: ColloquyOptions): Promise<Colloquy> {
  const { log, node = newId(), runsJobs = true, quiet = false } = options;
  await using opening = createCapabilityStack(log);
  const { add } = opening;
  const address = createAddress(config);
  const space = add(openSpace(config));
  const sandbox = add(openSandbox(config, { space, runsJobs }));
  const store = add(await openStore(config, options));
  const rooms = await openRooms(config, { store });
  const models = add(await openModels(config, { store, rooms, address, log }));
  const overview = add(openOverview(config, { store, log }));

  const uploads = add(openUploads(config, { store, space, log, runsJobs }));
  const knowledge = add(await openKnowledge(config, { store, space, log, runsJobs }));
  const workspaces = add(openWorkspaces(config, { store, space, sandbox, uploads, rooms, log, runsJobs }));
  const spending = add(openSpending({ store, models, log, runsJobs }));

  const lists = add(openLists({ store }));
  const tasks = add(openTasks({ store, log }));
  const mcp = add(openMcp(config, { store, tasks, address, log, runsJobs }));
  const taiga = add(await openTaiga(config, { store }));
  const toolsServer = add(openToolsServer(config, { models, address, log, runsJobs }));
  const prompts = await loadPrompts({ folder: config.prompts, log });
  const web = add(openWebTools(config, { prompts, address }));
  const tools = add(
    await openTools(config, {
      ...{ sandbox, workspaces, models, knowledge, prompts, web, mcp, taiga, toolsServer, runsJobs },
    }),
  );
  const definitions = add(await openDefinitions(config, { store, models, mcp, tools, rooms, log, runsJobs }));

  const webhooks = add(openWebhooks(config, { store, log, runsJobs }));
  const runs = add(
    await openRuns(config, {
      ...{
        store,
        models,
        spending,
        definitions,
        tools,
        toolsServer,
        sandbox,
        mcp,
        lists,
        uploads,
        knowledge,
        webhooks,
      },
      ...{ prompts, log, node, runsJobs, graceMs },
    }),
  );

  const access = add(await openAccess(config, { store, log }));
  const people = add(openPeople(config, { store, runs, uploads, workspaces, knowledge, access, mcp, log, runsJobs }));
  const served = add(serveRooms(rooms, { store, runs, definitions, log }));

  // Doctor and health list these first and in this order, then all others as they were opened.
  const told = [store, runs, models, mcp, toolsServer, definitions, sandbox, tools, space, people, web];
  const parts = opening.partsFrom(told);
  const services = {
    ...{ ...models.services, ...overview.services, ...uploads.services, ...knowledge.services },
    ...{
      ...workspaces.services,
      ...spending.services,
      ...lists.services,
      ...tasks.services,
      ...mcp.services,
      ...taiga.services,
    },
    ...{ ...tools.services, ...definitions.services, ...webhooks.services, ...runs.services },
    ...{ ...access.services, ...people.services, ...served.services },
  };
  const http = add(await openHttp(config, { services, parts, store, access, address, log, quiet, graceMs }));

  return {
    url: http.url,
    ollamaUrl: http.ollamaUrl,
    token: access.token,
    setupLink: () => access.setupLink(http.url),
    codeMaker: access.codeMaker,
    database: store.database,
    fileProof: store.fileProof,
    choice: definitions.definitions.choice(),
    sandbox: { ...sandbox, unmet: async () => missingSandboxFeatures(definitions.agents, await sandbox.state()) },
    problems: [...problemsOf({ tools, prompts, definitions, rooms, models }), ...http.problems],
    stop: opening.done(),
  };
}
