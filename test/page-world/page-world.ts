import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/client.ts";
import { createDefinitionClient } from "../../src/client/definitions.ts";
import type { ServerAccess } from "../../src/client/request.ts";
import { createTaskClient } from "../../src/client/tasks.ts";
import { createThreadClient } from "../../src/client/threads.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import { buildPage } from "../build-page.ts";
import { startEmbeddingServer } from "../embedding-server.ts";
import { startModelServer } from "../model-servers/model-server.ts";
import { startTaiga, type Taiga } from "../taiga/server.ts";
import { freshDataDirectory, temporaryFolder } from "../pglite.ts";
import { answerOf } from "./answers.ts";
import { fillAdministration } from "./administration.ts";
import { type Conversations, fillConversations } from "./conversations.ts";
import { fillKnowledge, type Knowledge } from "./knowledge.ts";
import { toolsFile } from "./tools.ts";

const password = "correct horse";

/** A coffee roastery that has used its server for a while: whoever looks at a page of it sees a product in use. */
export type PageWorld = Conversations &
  Knowledge & {
    readonly url: string;
    /** Of `ada`, an admin, and of `ben`. */
    readonly ada: Client;
    readonly ben: Client;
    /** The path of a link to a conversation that was shared. */
    readonly shared: string;
    /** Ids of accounts, by their names. */
    readonly people: Readonly<Record<string, string>>;
    /** Another admin, who has done nothing yet. */
    readonly fresh: Client;
    /** What a browser holds that is logged in. */
    readonly browserOf: (who: "ada" | "fresh") => Promise<BrowserState>;
    close(): Promise<void>;
  };

export type BrowserState = {
  readonly cookies: {
    name: string;
    value: string;
    domain: string;
    path: string;
    expires: number;
    httpOnly: boolean;
    secure: boolean;
    sameSite: "Lax";
  }[];
  readonly origins: [];
};

/** Starts the server, and does what people have done with it. */
export async function servePageWorld(): Promise<PageWorld> {
  buildPage();
  const [model, embeddings] = await Promise.all([
    startModelServer({ models: ["kestrel-large", "kestrel-small"] }),
    startEmbeddingServer(),
  ]);
  model.always(answerOf);
  const taiga = await startTaiga();
  const server = await startServer(model.url, embeddings.url, taiga);
  const { url } = server;
  const token = (await server.setupLink())?.split("#")[1];
  await send(url, "setup", { token, username: "ada", password });
  const ada = await clientOf(url, "ada");
  const people = await fillPeople(url, ada.client);
  const definitions = createDefinitionClient(ada.server);
  await fillDefinitions(definitions);
  const knowledge = await fillKnowledge(ada.client);
  const ben = createClient({ url, token: people.ben });
  const conversations = await fillConversations({ ada: ada.client, ben, database: server.database });
  // A till that keeps tasks names whose they are.
  await createTaskClient(ada.server).add({ title: "Descale the espresso machine", list: "front desk" });
  await fillAdministration({ server: ada.server, people: ada.client.users, database: server.database });
  return {
    url,
    ada: ada.client,
    ben,
    shared: (await createThreadClient(ada.server).share(conversations.threads.report)).page,
    people: Object.fromEntries((await ada.client.users.list()).map(({ id, name }) => [name, id])),
    fresh: createClient({ url, token: people.fresh }),
    ...knowledge,
    ...conversations,
    browserOf: (who) => browserOf(url, who),
    async close() {
      // What hangs on purpose would be waited for.
      for (const { id, status } of await ada.client.runs({ limit: 100 }))
        if (status === "running" || status === "queued") await ada.client.cancel(id);
      await server.stop();
      await Promise.all([model.close(), embeddings.close(), taiga.close()]);
    },
  };
}

/** Two models of one server; whatever it is asked, it answers as a story says. */
async function startServer(modelUrl: string, embeddingUrl: string, taiga: Taiga): Promise<Colloquy> {
  const cwd = temporaryFolder("page-world");
  mkdirSync(join(cwd, "tools"));
  writeFileSync(join(cwd, "tools/roastery.ts"), toolsFile);
  const config = {
    models: ["large", "small"].map((size) => ({
      id: size,
      provider: "openai",
      baseUrl: `${modelUrl}/v1`,
      model: `kestrel-${size}`,
      timeouts: { idleMs: 3_600_000 },
      retries: 0,
    })),
    mcpServers: {
      mcp_filesystem: { disabled: true },
      mcp_trader: { disabled: true },
      shop: { url: "http://localhost:9/mcp", description: "Orders of the web shop" },
    },
    prices: { large: { input: 0.6, output: 2.4 }, small: { input: 0.1, output: 0.4 } },
    approval: {
      ask: ["send_mail"],
      allow: ["add_task", "place_order", "bash", "book_courier"],
      allowAfterUntrusted: ["*"],
    },
    limits: { deadlineSeconds: 3600 },
    rag: { embeddingModel: "http:words", embeddingUrl },
    sandbox: { kind: "simulated" },
    webhooks: [
      {
        name: "ops",
        url: "https://ops.kestrel.example/hook",
        secret: "a secret of webhooks",
        events: ["waiting", "failed"],
      },
    ],
    retention: { auditDays: 400 },
    taiga: { url: taiga.url, token: `Application ${taiga.applicationTokenOf("bruno")}` },
  };
  writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify(config, null, 2));
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_SECRET: "a secret of these tests",
    COLLOQUY_PROBE: "false",
    COLLOQUY_TITLES: "first-words",
    COLLOQUY_PORT: "0",
    COLLOQUY_AUTH__MODE: "accounts",
  };
  return startColloquy(loadConfig({ env, cwd }), { log: silentLog });
}

async function fillPeople(url: string, { users }: Client): Promise<{ readonly ben: string; readonly fresh: string }> {
  const { key: ben } = await users.add({ name: "ben", role: "user" });
  const { user: other, key: fresh } = await users.add({ name: "fresh", role: "admin" });
  await users.add({ name: "chloe", role: "user" });
  const { user: gone } = await users.add({ name: "dinesh", role: "user" });
  await users.change(gone.id, { disabled: true });
  const { token } = await users.reset(other.id);
  await send(url, "reset", { token, password });
  return { ben, fresh };
}

async function fillDefinitions({ agents, setDefault }: ReturnType<typeof createDefinitionClient>): Promise<void> {
  const tools = ["rag", "calculate", "*_task", "*_tasks", "send_mail", "place_order", "book_courier", "now"];
  const define = (id: string, definition: object) =>
    agents.create({ id, definition: { model: "large", ...definition } });
  await define("roaster", {
    description: "Knows the roastery: contracts, figures, orders and mails",
    instructions: "You help the people of Kestrel Coffee. Look things up before you answer.",
    tools,
    agents: ["scout"],
  });
  await define("scout", {
    description: "Looks facts up in our documents",
    instructions: "Answer from the documents alone.",
    model: "small",
    tools: ["rag"],
  });
  await define("tidier", {
    description: "Keeps the task list short",
    instructions: "Close what is done.",
    model: "small",
    tools: ["*_task", "*_tasks"],
    limits: { steps: 1 },
  });
  await define("planner", {
    description: "Prepares what takes several steps",
    strategy: "plan-execute",
    instructions: "Plan, then do.",
    tools,
  });
  await setDefault("agent", "roaster");
}

async function clientOf(
  url: string,
  username: string,
): Promise<{ readonly client: Client; readonly server: ServerAccess }> {
  const answer = await send(url, "login", { username, password });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { client: createClient({ url, token }), server: { url, token } };
}

async function browserOf(url: string, username: string): Promise<BrowserState> {
  const answer = await send(url, "login", { username, password, cookie: true });
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(answer.headers.getSetCookie()[0] ?? "") ?? [];
  const { hostname: domain } = new URL(url);
  const cookie = {
    name,
    value,
    domain,
    path: "/",
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: "Lax" as const,
  };
  return { cookies: [cookie], origins: [] };
}

async function send(url: string, what: string, body: object): Promise<Response> {
  const answer = await fetch(`${url}/api/auth/${what}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-colloquy-page": "1" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}
