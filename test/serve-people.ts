import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type Client, createClient } from "../src/client/client.ts";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import type { OpenBrowser } from "./browser.ts";
import { buildPage } from "./build-page.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const password = "correct horse";

export type PeopleServing = {
  readonly url: string;
  readonly model: ModelServer;
  /** Of somebody, with a key. */
  readonly clientOf: (name: string) => Client;
  /** A tab in a browser of one's own, logged in. */
  readonly tabOf: (name: string, path: string, options?: Parameters<Browser["newPage"]>[0]) => Promise<Page>;
  close(): Promise<void>;
};

export type PeopleServingOptions = {
  readonly browser: OpenBrowser;
  /** Users, beside the admin `root`. */
  readonly people: readonly string[];
  readonly config?: object;
  /** Files beside the configuration, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
};

/** A whole server with accounts and the page, whose model is at another server, over HTTP. */
export async function servePeople({
  browser,
  people,
  config,
  files = {},
}: PeopleServingOptions): Promise<PeopleServing> {
  buildPage();
  const model = await startModelServer();
  const cwd = temporaryFolder("people");
  const all = {
    models: [{ id: "served", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" }],
    mcpServers: { mcp_filesystem: { disabled: true }, mcp_trader: { disabled: true } },
    ...config,
  };
  for (const [path, text] of Object.entries({ "colloquy.yaml": JSON.stringify(all), ...files })) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_SECRET: "a secret of these tests",
    COLLOQUY_PROBE: "false",
    COLLOQUY_TITLES: "first-words",
    COLLOQUY_PORT: "0",
    COLLOQUY_AUTH__MODE: "accounts",
    COLLOQUY_AUTH__SIGNUP: "open",
  };
  const server = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
  const { url } = server;
  const clients = await openAccounts(server, people);
  return {
    url,
    model,
    clientOf(name) {
      const client = clients.get(name);
      if (!client) throw new Error(`Nobody is called ${name}.`);
      return client;
    },
    async tabOf(name, path, options) {
      const page = await browser.open(`${url}/login`, options);
      const answer = await page.request.post(`${url}/api/auth/login`, {
        data: { username: name, password, cookie: true },
        headers: { "x-colloquy-page": "1" },
      });
      if (!answer.ok()) throw new Error(await answer.text());
      await page.goto(url + path);
      return page;
    },
    async close() {
      await server.stop();
      await model.close();
    },
  };
}

/** An account for each, and a key. */
async function openAccounts(server: Colloquy, people: readonly string[]): Promise<ReadonlyMap<string, Client>> {
  const { url } = server;
  const send = async (what: string, body: object) => {
    const answer = await fetch(`${url}/api/auth/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { readonly access_token: string };
  };
  const token = (await server.setupLink())?.split("#")[1];
  await send("setup", { token, username: "root", password });
  for (const username of people) await send("signup", { username, password });
  const clients = new Map<string, Client>();
  for (const username of ["root", ...people]) {
    const { access_token } = await send("login", { username, password });
    clients.set(username, createClient({ url, token: access_token }));
  }
  return clients;
}
