import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigInvalid, describeConfig, loadConfig } from "./load.ts";
import { type Config } from "./schema.ts";
import { toolSettingsOf } from "./sections/tools.ts";
import { InvalidInput } from "../protocol/base/errors.ts";

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A working directory with this `colloquy.yaml`, or with none. */
function folderWith(yaml?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-config-"));
  folders.push(folder);
  if (yaml !== undefined) writeFileSync(join(folder, "colloquy.yaml"), yaml);
  return folder;
}

function load(yaml: string | undefined, env: Record<string, string> = {}): Config {
  return loadConfig({ env, cwd: folderWith(yaml) });
}

/** The problems, one text each. */
function problems(yaml: string | undefined, env: Record<string, string> = {}): string[] {
  try {
    load(yaml, env);
  } catch (error) {
    assert.ok(error instanceof ConfigInvalid);
    return error.problems.map(({ where, path, text }) => `${where} ${path} ${text}`);
  }
  return assert.fail("no problem was found");
}

const defaults = load(undefined);

test("without file and environment: the defaults", () => {
  const cwd = folderWith();
  const config = loadConfig({ env: {}, cwd });
  assert.equal(config.server.host, "127.0.0.1");
  assert.equal(config.server.port, 8000);
  assert.deepEqual(config.server.corsOrigins, ["http://localhost:3000"]);
  assert.equal(config.data, join(cwd, "data"));
  assert.equal(config.database.url, undefined);
  assert.deepEqual(config.models, []);
  assert.deepEqual(config.backend, {});
  assert.equal(config.limits.deadlineSeconds, 600);
  assert.deepEqual(config.concurrency, { perUser: 8, perNode: 256 });
  assert.equal(config.file, undefined);
  assert.deepEqual(new Set(config.source.values()), new Set(["default"]));
});

test("tools: a folder, or a group with what is set for each tool; faults of both are told", () => {
  assert.equal(load("tools: ./mine\n").source.get("tools.folder"), "colloquy.yaml:1");
  const both = load("tools: ./mine\n", { TOOL_PARAMETERS: '{"bash":{"timeout":5}}' });
  assert.match(both.tools.folder, /mine$/);
  assert.deepEqual(toolSettingsOf(both.tools).byName["bash"], { timeout: 5 });
  assert.deepEqual(problems("tools: { foldr: ./x, bash: { timeot: 3 }, port: 0 }\n").sort(), [
    "colloquy.yaml:1 tools.bash.timeot is not a known key; did you mean timeout?",
    'colloquy.yaml:1 tools.foldr is "./x", but must be a group of keys',
    "colloquy.yaml:1 tools.port is 0, but must be at least 1",
  ]);
  assert.match(problems("tools: 5\n")[0] ?? "", /tools is 5, but must be a group of keys/);
  assert.match(
    problems(undefined, { TOOL_MODELS: "[1]" })[0] ?? "",
    /^environment TOOL_MODELS {2}is not a JSON object/,
  );
  assert.match(problems(undefined, { TOOL_PARAMETERS: '{"a":{"tmeout":1}}' })[0] ?? "", /did you mean timeout\?/);
  assert.match(problems(undefined, { TOOLS_HOST: "tools:1" })[0] ?? "", /without a port or path/);
});

test("database: a URL, or a group with its connections and deadlines; what would not end, or ends too late, is refused", () => {
  assert.deepEqual(defaults.database, {
    connections: 20,
    heartSeconds: 5,
    listingSeconds: 60,
    maintenanceSeconds: 3600,
  });
  const url = "postgres://localhost/one";
  assert.equal(load(`database: ${url}\n`).database.url, url);
  const both = load("database: { url: postgres://localhost/two, heartSeconds: 2 }\n", { DATABASE_URL: url });
  assert.deepEqual([both.database.url, both.database.heartSeconds, both.database.connections], [url, 2, 20]);
  const told = (text: string) => problems(`database: { ${text} }\n`)[0]?.replace("colloquy.yaml:1 database.", "");
  assert.match(told("heartSeconds: 0")!, /^heartSeconds is 0, but must be at least 0.1/);
  assert.match(told("heartSeconds: -1")!, /^heartSeconds is -1, but must be at least 0.1/);
  assert.match(told("heartSeconds: 10")!, /^heartSeconds is 10, but must be at most 9/);
  assert.match(told("listingSeconds: 0")!, /^listingSeconds is 0, but must be at least 0.1/);
  assert.match(told("maintenanceSeconds: .inf")!, /^maintenanceSeconds/);
  assert.match(told("connections: 2")!, /^connections is 2, but must be at least 3/);
  assert.match(told("url: 'mysql://x'")!, /must be a URL such as postgres:/);
  assert.match(problems("database: 5\n")[0]!, /database must be a group of keys/);
});

test("an entry of a list by its number", () => {
  const yaml = "models:\n  - { id: local, provider: ollama, model: a }\n";
  const config = load(yaml, {
    COLLOQUY_MODELS__0__MODEL: "b",
    COLLOQUY_MODELS__1__ID: "default",
    COLLOQUY_MODELS__1__FALLBACK: "local",
  });
  assert.deepEqual(config.models, [
    { id: "local", provider: "ollama", model: "b" },
    { id: "default", fallback: ["local"] },
  ]);
  assert.equal(config.source.get("models[0].model"), "environment COLLOQUY_MODELS__0__MODEL");
  assert.equal(config.source.get("models[0].id"), "colloquy.yaml:2");
  assert.match(problems(yaml, { COLLOQUY_MODELS__2__ID: "x" })[0] ?? "", /models has only 1 entries/);
});

test("where Ollama is holds for its models and for embeddings that name no address", () => {
  const yaml =
    "models:\n  - { id: a, provider: ollama, model: m }\n  - { id: b, provider: ollama, model: m, baseUrl: 'http://b:1' }\n";
  const urls = (config: Config) => [
    ...config.models.map((model) => ("baseUrl" in model ? model.baseUrl : undefined)),
    config.rag.embeddingUrl,
  ];
  const OLLAMA_HOST = "gpu.lan";
  assert.deepEqual(urls(load(yaml)), [undefined, "http://b:1", "http://127.0.0.1:11434/v1"]);
  assert.deepEqual(urls(load(yaml, { OLLAMA_HOST })), [
    "http://gpu.lan:11434",
    "http://b:1",
    "http://gpu.lan:11434/v1",
  ]);
  const both = { OLLAMA_HOST: "0.0.0.0", OLLAMA_BASE_URL: "http://gpu.lan:8080", RAG_EMBEDDING_URL: "http://e:1/v1" };
  assert.deepEqual(urls(load(yaml, both)), ["http://gpu.lan:8080", "http://b:1", "http://e:1/v1"]);
  assert.match(
    problems("", { OLLAMA_HOST: "ftp://x" })[0]!,
    /^environment OLLAMA_HOST backend\.ollamaUrl .*must be where Ollama is/,
  );
});

test("environment over file over defaults, and each value knows its source", () => {
  const yaml = "# a comment\nserver:\n  host: localhost\n  port: 8001\n";
  const config = load(yaml, { COLLOQUY_PORT: "8002", COLLOQUY_HOST: "" });
  assert.equal(config.server.port, 8002);
  assert.equal(config.server.host, "localhost");
  assert.equal(config.source.get("server.port"), "environment COLLOQUY_PORT");
  assert.equal(config.source.get("server.host"), "colloquy.yaml:3");
  assert.equal(config.source.get("server.bodyLimitBytes"), "default");
});

test("outages: times that would not end, are none, or contradict one another are refused", () => {
  const told = (text: string) => problems(`outages: { ${text} }\n`)[0]?.replace("colloquy.yaml:1 outages.", "");
  assert.match(told("retrySeconds: 0")!, /^retrySeconds is 0, but must be more than 0/);
  assert.match(told("firstSeconds: -1")!, /^firstSeconds is -1, but must be more than 0/);
  assert.match(
    told("firstSeconds: 10, longestSeconds: 5")!,
    /^longestSeconds is 5, but must not be less than firstSeconds/,
  );
  assert.match(told("longestSeconds: 1e12")!, /^longestSeconds is 1000000000000, but must be at most 86400/);
  assert.match(told("waitHours: 1e9")!, /^waitHours is 1000000000, but must be at most 720/);
});

test("the long name wins over the short form", () => {
  assert.equal(load(undefined, { COLLOQUY_PORT: "1", COLLOQUY_SERVER__PORT: "2" }).server.port, 2);
});

test("${VAR}: whole, inside a text, with a default, escaped, and typed", () => {
  const yaml = [
    "server: { port: '${PORT}', host: '${HOST:-localhost}' }",
    "data: /srv/${NAME}/data",
    "agents: ${UNSET}",
    "tools: /a/$${NAME}",
    "database: postgres://${UNSET}@localhost/one",
  ].join("\n");
  const config = load(yaml, { PORT: "9000", NAME: "one", EMPTY: "" });
  assert.equal(config.server.port, 9000);
  assert.equal(config.server.host, "localhost");
  assert.equal(config.data, "/srv/one/data");
  assert.equal(config.tools.folder, "/a/${NAME}");
  assert.equal(config.source.get("agents"), "default");
  assert.equal(config.database.url, undefined);
  assert.deepEqual(
    [...config.absent],
    [
      ["agents", "UNSET"],
      ["database", "UNSET"],
    ],
  );
  assert.match(problems("data: /srv/${NAME\n")[0] ?? "", /^colloquy.yaml:1 data `\$\{` must be followed/);
});

test("an absent key of a model is known by its variable; a required one is a problem that names it", () => {
  const yaml = "models:\n  - { id: c, provider: openai, model: '${M}', apiKey: '${CEREBRAS_API_KEY}' }\n";
  const config = load(yaml, { M: "m" });
  assert.deepEqual(config.models, [{ id: "c", provider: "openai", model: "m" }]);
  assert.equal(config.absent.get("models[0].apiKey"), "CEREBRAS_API_KEY");
  assert.deepEqual(problems(yaml), ["colloquy.yaml:2 models[0].model is missing, since M is not set"]);
});

test("keys without a value, and an empty file, are as if not there", () => {
  assert.deepEqual(load("server:\ndata:\nmodels:\n").server, defaults.server);
  assert.deepEqual(load("").server, defaults.server);
  assert.deepEqual(load("# nothing\n").server, defaults.server);
});

test("folders: from the file relative to it, else to the working directory", () => {
  const etc = folderWith("data: ./data\nprompts: ./texts\n");
  const cwd = folderWith();
  const config = loadConfig({ env: { COLLOQUY_CONFIG: join(etc, "colloquy.yaml"), COLLOQUY_TOOLS: "tools" }, cwd });
  assert.equal(config.file, join(etc, "colloquy.yaml"));
  assert.equal(config.data, join(etc, "data"));
  assert.equal(config.tools.folder, join(cwd, "tools"));
  assert.equal(config.agents, join(cwd, "agents"));
  assert.equal(config.prompts, join(etc, "texts"));
  assert.equal(config.source.get("data"), `${join(etc, "colloquy.yaml")}:1`);
});

test("all problems in one list, each with its line or variable and what would be right", () => {
  const yaml = [
    "server: { host: 0.0.0.0, port: eighty, prot: 3 }",
    "modles: []",
    "models:",
    "  - { id: a, provider: olama, model: x }",
    "  - { id: b, provider: anthropic, modl: x }",
    "  - { id: c, fallback: a }",
    "limits:",
    "  steps: 2.5",
    "auth: { mode: local }",
  ].join("\n");
  assert.deepEqual(problems(yaml, { DEFAULT_TEMPERATURE: "9", COLLOQUY_LOG_LEVL: "info" }), [
    "environment COLLOQUY_LOG_LEVL  no setting has this name; did you mean COLLOQUY_LOG_LEVEL?",
    'colloquy.yaml:1 server.port is "eighty", but must be a number',
    "colloquy.yaml:1 server.prot is not a known key; did you mean port?",
    'colloquy.yaml:4 models[0].provider is "olama", but must be one of openai, ollama, anthropic, ai-sdk, demo, scripted',
    "colloquy.yaml:5 models[1].model is missing; it must be a text",
    "colloquy.yaml:5 models[1].modl is not a known key; did you mean model?",
    'colloquy.yaml:6 models[2].fallback is "a", but must be a list',
    "environment DEFAULT_TEMPERATURE backend.temperature is 9, but must be at most 2",
    "colloquy.yaml:8 limits.steps is 2.5, but must be a whole number",
    "colloquy.yaml:2 modles is not a known key; did you mean models?",
    "colloquy.yaml:1 server.host is 0.0.0.0, which other machines can reach, but in auth.mode local whoever reaches the " +
      "server may use it: set auth.mode to accounts (COLLOQUY_AUTH__MODE=accounts), or server.host to 127.0.0.1",
  ]);
});

test("the error is a config_invalid whose message holds the whole list", () => {
  assert.throws(
    () => load("servr: {}\n", { COLLOQUY_PORT: "x" }),
    (error) => {
      assert.ok(error instanceof InvalidInput);
      assert.equal(error.code, "config_invalid");
      assert.match(
        error.message,
        /^The configuration has 2 problems:\n  environment COLLOQUY_PORT: server.port .*\n  colloquy.yaml:1: servr is/s,
      );
      return true;
    },
  );
});

test("what the design plans but nothing reads yet is refused, not ignored", () => {
  assert.match(
    problems("telemetry: {}\n")[0] ?? "",
    /^colloquy.yaml:1 telemetry is not a known key; known here: server, data,/,
  );
});

test("names of groups, of nothing, and of others' making", () => {
  assert.match(problems(undefined, { COLLOQUY_SERVER: "x" })[0] ?? "", /names a group.*COLLOQUY_SERVER__CORS_ORIGINS/);
  assert.match(problems(undefined, { COLLOQUY_SERVER__PROT: "1" })[0] ?? "", /did you mean COLLOQUY_SERVER__PORT\?/);
  const links = {
    COLLOQUY_SERVICE_HOST: "10.0.0.1",
    COLLOQUY_PORT: "tcp://10.0.0.1:80",
    COLLOQUY_PORT_80_TCP: "tcp://10.0.0.1:80",
  };
  assert.equal(load(undefined, links).server.port, 8000);
});

test("a Taiga server: its login in one form, and hidden", () => {
  const { taiga } = load("taiga: { url: 'https://taiga.example.com' }\n");
  assert.deepEqual(taiga, { url: "https://taiga.example.com", marker: "external_reference" });
  const names = {
    COLLOQUY_TAIGA__URL: "http://10.0.0.5:9000",
    COLLOQUY_TAIGA__TOKEN: "veiled",
    COLLOQUY_TAIGA__PROJECT: "app",
  };
  const config = load(undefined, names);
  assert.deepEqual(config.taiga, {
    url: "http://10.0.0.5:9000",
    token: "veiled",
    project: "app",
    marker: "external_reference",
  });
  assert.doesNotMatch(JSON.stringify(describeConfig(config)), /veiled/);

  const wrong = (taiga: string) => problems(`taiga: { url: "http://taiga.lan", ${taiga} }\n`)[0] ?? "";
  assert.match(wrong("username: ada"), /taiga.password .*belong together/);
  assert.match(wrong("token: veiled, username: ada, password: x"), /taiga.token .*keep one of the two/);
  assert.match(wrong("project: app"), /taiga.project .*needs a login/);
  assert.match(wrong("marker: subject"), /taiga.marker /);
  assert.match(
    problems(`taiga: { url: "http://${["ada", "veiled"].join(":")}@taiga.lan" }\n`)[0] ?? "",
    /taiga.url must not contain/,
  );
});

test("no secret in a problem or a description", () => {
  const secret = "sk-very-secret";
  const yaml = [
    `database: "mysql://user:${secret}@localhost/one"`,
    `models: [{ id: a, provider: openai, model: m, apiKey: ["${secret}"], headers: { x-other: ["${secret}"] } }]`,
    `secret: ${secret}`,
  ].join("\n");
  const found = problems(yaml, { COLLOQUY_MODELS__0__TOKEN: secret, COLLOQUY_BACKEND__OLLAMA_MODEL: secret });
  assert.equal(found.length, 5);
  assert.doesNotMatch(found.join("\n"), /very/);
  for (const broken of [
    `secret: *${secret}`,
    `secret: !${secret} x`,
    `secret: "\\${secret}"`,
    `a: { secret: ${secret}: } }`,
  ]) {
    assert.doesNotMatch(problems(broken).join("\n"), /very/);
  }
  const model = `{ id: a, provider: openai, model: m, baseUrl: "http://user:${secret}@localhost", apiKey: ${secret}, headers: { authorization: ${secret} } }`;
  assert.doesNotMatch(JSON.stringify(describeConfig(load(`models: [${model}]`))), /very/);
});

test("a file that can't be used says why", () => {
  assert.match(problems("server: { port: 1\ndata: x\n")[0] ?? "", /^colloquy.yaml:\d+ {2}not valid YAML: /);
  assert.match(problems("data: a\ndata: b\n")[0] ?? "", /^colloquy.yaml:2 {2}this key is defined twice/);
  assert.match(problems("data: a\n---\ndata: b\n")[0] ?? "", /one document/);
  assert.match(problems("- data\n")[0] ?? "", /^colloquy.yaml:1 {2}the file must hold keys and values/);
  assert.match(
    problems(undefined, { COLLOQUY_CONFIG: "/nowhere/colloquy.yaml" })[0] ?? "",
    /file \/nowhere\S* not found/,
  );
  assert.match(problems(undefined, { COLLOQUY_CONFIG: tmpdir() })[0] ?? "", /the file can't be read: EISDIR/);
  const cwd = folderWith();
  writeFileSync(join(cwd, "colloquy.yml"), "data: x\n");
  assert.throws(() => loadConfig({ env: {}, cwd }), /name it colloquy.yaml/);
});

test("other machines only with accounts", () => {
  for (const host of ["0.0.0.0", "::", "192.168.0.1", "colloquy.example"]) {
    assert.match(
      problems(undefined, { COLLOQUY_HOST: host })[0] ?? "",
      /^environment COLLOQUY_HOST server.host .*set auth.mode/,
    );
    assert.equal(load(undefined, { COLLOQUY_HOST: host, COLLOQUY_AUTH__MODE: "accounts" }).server.host, host);
  }
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "::1"]) load(undefined, { COLLOQUY_HOST: host });
});

test("API keys are seen by name only", () => {
  const config = load(undefined, { OPENAI_API_KEY: "sk-very-secret", CEREBRAS_API_KEY: "" });
  assert.deepEqual(config.seenKeys, ["OPENAI_API_KEY"]);
  assert.doesNotMatch(JSON.stringify(config), /very/);
});

test("a config can't be changed", () => {
  const config = load("models: [{ id: a, provider: ollama, model: m, options: { temperature: 1 } }]");
  for (const part of [
    config,
    config.server,
    config.server.corsOrigins,
    config.models,
    config.models[0],
    config.limits,
  ]) {
    assert.ok(Object.isFrozen(part));
  }
});

test("the example file is right, and says the defaults", () => {
  const env = { COLLOQUY_CONFIG: join(import.meta.dirname, "../../colloquy.example.yaml") };
  const config = loadConfig({ env, cwd: folderWith() });
  assert.equal(config.models.length, 6);
  for (const key of [
    "server",
    "limits",
    "strategies",
    "concurrency",
    "retention",
    "log",
    "auth",
    "probe",
    "backend",
    "prices",
    "webhooks",
    "mcpServers",
    "mcp",
    "sandbox",
  ] as const) {
    assert.deepEqual(config[key], defaults[key], key);
  }
});
