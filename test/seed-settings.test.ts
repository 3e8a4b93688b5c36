import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { modelChoiceOf } from "../src/config/schema.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { chooseBackend, type BackendProbe } from "../src/models/discovery/probe.ts";
import { createModels } from "../src/models/registry.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { collect } from "./model-servers/collect.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type SearchServer, startSearchServer } from "./search-servers.ts";

/** Settings under the names that other servers know them by: that each reaches its place is config-environment.test.ts's. */
const settings = {
  CORS_ORIGINS: "http://page.example",
  JWT_EXPIRATION_HOURS: "2",
  AVAILABLE_TOOLS: "now,calculate,websearch",
  MAX_CONVERSATION_HISTORY: "2",
  REACT_MAX_ITERATIONS: "1",
  LLM_BACKEND: "ollama",
  OLLAMA_MODEL: "second",
  DEFAULT_TEMPERATURE: "0.3",
  TAVILY_API_KEY: "tvly-right",
  TAVILY_SEARCH_DEPTH: "advanced",
  WEBSEARCH_MAX_RESULTS: "2",
};

let models: ModelServer;
let tavily: SearchServer;
let colloquy: Colloquy;
before(async () => {
  models = await startModelServer({ models: ["first", "second"] });
  tavily = await startSearchServer("tavily");
  const env = {
    PATH: process.env["PATH"] ?? "",
    ...settings,
    LLM_BACKEND: "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_AUTH__MODE: "accounts",
    COLLOQUY_AUTH__SIGNUP: "open",
    COLLOQUY_PORT: "0",
    COLLOQUY_MODELS__0__ID: "served",
    COLLOQUY_MODELS__0__PROVIDER: "openai",
    COLLOQUY_MODELS__0__MODEL: "first",
    COLLOQUY_MODELS__0__BASE_URL: `${models.url}/v1`,
    COLLOQUY_WEBSEARCH__TAVILY__BASE_URL: tavily.url,
  };
  colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("settings") }), { log: silentLog });
});
after(async () => {
  await colloquy.stop();
  await models.close();
  await tavily.close();
});

const send = (path: string, body?: object, headers: Record<string, string> = {}) =>
  fetch(colloquy.url + path, {
    method: body ? "POST" : "GET",
    headers: {
      authorization: `Bearer ${colloquy.token}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
const read = async <Body>(response: Response) => (await response.json()) as Body;

async function ask(agent: string, session: string, text: string): Promise<void> {
  const body = { model: agent, session_id: session, messages: [{ role: "user", content: text }] };
  const answer = await send("/v1/chat/completions", body);
  assert.equal(answer.status, 200, await answer.text());
}

const effects: Readonly<Record<keyof typeof settings, () => Promise<void>>> = {
  async CORS_ORIGINS() {
    const allowed = async (origin: string) =>
      (await send("/health", undefined, { origin })).headers.get("access-control-allow-origin");
    assert.equal(await allowed("http://page.example"), "http://page.example");
    assert.equal(await allowed("http://other.example"), null);
  },
  async JWT_EXPIRATION_HOURS() {
    const login = await send("/api/auth/signup", { username: "ann", password: "correct horse" });
    assert.equal((await read<{ expires_in: number }>(login)).expires_in, 2 * 3600);
  },
  async AVAILABLE_TOOLS() {
    const { data } = await read<{ data: { name: string }[] }>(await send("/api/tools/list"));
    assert.deepEqual(data.map(({ name }) => name).sort(), ["calculate", "now", "websearch"]);
  },
  async MAX_CONVERSATION_HISTORY() {
    for (const text of ["one", "two", "three"]) await ask("chat", "history", text);
    const asked = models.requests.at(-1)!.body["messages"] as { role: string; content: string }[];
    const said = asked.filter(({ role }) => role !== "system").map(({ content }) => content);
    assert.deepEqual(said, ["two", "ok", "three"]);
  },
  async REACT_MAX_ITERATIONS() {
    const before = models.requests.length;
    models.always("Thought: I look again.\nAction: now\nAction Input: {}");
    await ask("react", "react", "what time is it?");
    models.always("ok");
    assert.equal(models.requests.length - before, 3, "its thought, its action, and then the answer whatever it says");
  },
  LLM_BACKEND: () => asksOllama("llamacpp"),
  OLLAMA_MODEL: () => asksOllama("llamacpp"),
  DEFAULT_TEMPERATURE: () => asksOllama("lmstudio"),
  TAVILY_API_KEY: searchesTheWeb,
  TAVILY_SEARCH_DEPTH: searchesTheWeb,
  WEBSEARCH_MAX_RESULTS: searchesTheWeb,
};

/** Tavily refuses another key. */
async function searchesTheWeb(): Promise<void> {
  const answer = await send("/api/tools/websearch", { query: `anything new? ${tavily.requests.length}` });
  assert.equal((await read<{ success: boolean }>(answer)).success, true);
  const body = tavily.requests.at(-1)!.body as Record<string, unknown>;
  assert.deepEqual([body["search_depth"], body["max_results"]], ["advanced", 2]);
}

/** The model that is chosen by these settings, beside another server that was found too, is asked with them. */
async function asksOllama(other: BackendProbe["kind"]): Promise<void> {
  const config = loadConfig({ env: settings, cwd: temporaryFolder("settings") });
  const found = (kind: BackendProbe["kind"]): BackendProbe => ({
    kind,
    url: models.url,
    outcome: "found",
    detail: "",
    models: ["first", "second"],
  });
  const chosen = chooseBackend([found(other), found("ollama")], modelChoiceOf(config).wish);
  const registry = createModels({ models: [chosen.config!] });
  await collect(registry.get("ollama").stream({ messages: [] }, new AbortController().signal));
  await registry.close();
  const { wire, body } = models.requests.at(-1)!;
  const { temperature } = body["options"] as { temperature: number };
  assert.deepEqual([wire, body["model"], temperature], ["ollama", "second", 0.3]);
}

for (const [name, effect] of Object.entries(effects)) test(`${name} takes effect`, effect);
