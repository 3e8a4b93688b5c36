import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Config, describeConfig, loadConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-config-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "colloquy.yaml");
writeFileSync(file, "server: { port: 7000 }\nlimits: { steps: 7 }\nlog: { level: error }\nbackend: { kind: ollama }\n");

const described = (config: Config, path: string) => describeConfig(config).find((row) => row.path === path);

// [variable, text, path, value]: each scalar by its own name, and each short form.
const environmentNames: [string, string, string, unknown][] = [
  ["COLLOQUY_SERVER__HOST", "localhost", "server.host", "localhost"],
  ["COLLOQUY_SERVER__PORT", "8001", "server.port", 8001],
  [
    "COLLOQUY_SERVER__CORS_ORIGINS",
    "http://a.example, http://b.example",
    "server.corsOrigins",
    ["http://a.example", "http://b.example"],
  ],
  ["COLLOQUY_SERVER__HOSTS", "colloquy.lan", "server.hosts", ["colloquy.lan"]],
  ["COLLOQUY_SERVER__BODY_LIMIT_BYTES", "1000", "server.bodyLimitBytes", 1000],
  ["COLLOQUY_SERVER__BASE_PATH", "/colloquy", "server.basePath", "/colloquy"],
  ["COLLOQUY_SERVER__TRUST_PROXY", "loopback,10.0.0.0/8", "server.trustProxy", ["loopback", "10.0.0.0/8"]],
  ["CORS_ORIGINS", "http://c.example", "server.corsOrigins", ["http://c.example"]],
  ["COLLOQUY_DATA", "/var/colloquy", "data", "/var/colloquy"],
  ["COLLOQUY_DATABASE", "postgres://localhost/one", "database", "***"],
  ["COLLOQUY_SECRET", "0123456789abcdef", "secret", "***"],
  ["COLLOQUY_PROBE", "false", "probe", false],
  ["COLLOQUY_BACKEND__KIND", "llamacpp", "backend.kind", "llamacpp"],
  ["COLLOQUY_BACKEND__OLLAMA_MODEL", "7", "backend.ollamaModel", "7"],
  ["COLLOQUY_BACKEND__TEMPERATURE", "0.5", "backend.temperature", 0.5],
  ["COLLOQUY_AGENTS", "/etc/agents", "agents", "/etc/agents"],
  ["COLLOQUY_PROMPTS", "/etc/prompts", "prompts", "/etc/prompts"],
  ["COLLOQUY_TOOLS__FOLDER", "/etc/tools", "tools.folder", "/etc/tools"],
  ["COLLOQUY_TOOLS", "/etc/tools", "tools.folder", "/etc/tools"],
  ["COLLOQUY_TOOLS__AVAILABLE", "now,task_*", "tools.available", ["now", "task_*"]],
  ["COLLOQUY_TOOLS__DEFAULT_TIMEOUT_SECONDS", "20", "tools.defaultTimeoutSeconds", 20],
  ["COLLOQUY_TOOLS__PYTHON_CODER__MODE", "nanocoder", "tools.python_coder.mode", "nanocoder"],
  ["PYTHON_EXECUTOR_MODE", "nanocoder", "tools.python_coder.mode", "nanocoder"],
  ["NANOCODER_PATH", "/opt/nanocoder", "tools.python_coder.nanocoder", "/opt/nanocoder"],
  ["NANOCODER_TIMEOUT", "600", "tools.python_coder.nanocoderTimeout", 600],
  ["COLLOQUY_TOOLS__PPT_MAKER__MARP", "/opt/marp", "tools.ppt_maker.marp", "/opt/marp"],
  ["COLLOQUY_TOOLS__PPT_MAKER__CHROMIUM", "/opt/chrome", "tools.ppt_maker.chromium", "/opt/chrome"],
  ["AVAILABLE_TOOLS", "websearch, rag", "tools.available", ["websearch", "rag"]],
  ["DEFAULT_TOOL_TIMEOUT", "30", "tools.defaultTimeoutSeconds", 30],
  ["COLLOQUY_TOOLS__HOST", "tools.lan", "tools.host", "tools.lan"],
  ["COLLOQUY_TOOLS__PORT", "10006", "tools.port", 10006],
  ["COLLOQUY_TOOLS__TOKEN", "0123456789abcdef", "tools.token", "***"],
  ["TOOLS_HOST", "10.0.0.7", "tools.host", "10.0.0.7"],
  ["TOOLS_PORT", "10016", "tools.port", 10016],
  ["TOOLS_TOKEN", "0123456789abcdef", "tools.token", "***"],
  ["TOOL_MODELS", '{"websearch":"local"}', "tools.websearch.model", "local"],
  ["TOOL_PARAMETERS", '{"rag":{"temperature":0.3}}', "tools.rag.temperature", 0.3],
  ["COLLOQUY_WEBSEARCH__PROVIDERS", "brave,tavily", "websearch.providers", ["brave", "tavily"]],
  ["COLLOQUY_WEBSEARCH__MAX_RESULTS", "7", "websearch.maxResults", 7],
  ["WEBSEARCH_MAX_RESULTS", "8", "websearch.maxResults", 8],
  ["COLLOQUY_WEBSEARCH__ANSWER", "no", "websearch.answer", false],
  ["COLLOQUY_WEBSEARCH__CACHE_MINUTES", "0", "websearch.cacheMinutes", 0],
  ["COLLOQUY_WEBSEARCH__TAVILY__API_KEY", "tvly-1", "websearch.tavily.apiKey", "***"],
  ["TAVILY_API_KEY", "tvly-1", "websearch.tavily.apiKey", "***"],
  ["COLLOQUY_WEBSEARCH__TAVILY__DEPTH", "fast", "websearch.tavily.depth", "fast"],
  ["TAVILY_SEARCH_DEPTH", "advanced", "websearch.tavily.depth", "advanced"],
  ["COLLOQUY_WEBSEARCH__TAVILY__BASE_URL", "https://tavily.lan", "websearch.tavily.baseUrl", "https://tavily.lan"],
  ["COLLOQUY_WEBSEARCH__TAVILY__REQUESTS_PER_SECOND", "2", "websearch.tavily.requestsPerSecond", 2],
  ["SEARXNG_URL", "http://localhost:8888", "websearch.searxng.url", "http://localhost:8888"],
  ["COLLOQUY_WEBSEARCH__SEARXNG__ENGINES", "bing,mojeek", "websearch.searxng.engines", ["bing", "mojeek"]],
  ["COLLOQUY_WEBSEARCH__SEARXNG__LANGUAGE", "de", "websearch.searxng.language", "de"],
  ["COLLOQUY_WEBSEARCH__SEARXNG__REQUESTS_PER_SECOND", "9", "websearch.searxng.requestsPerSecond", 9],
  ["BRAVE_API_KEY", "brave-1", "websearch.brave.apiKey", "***"],
  ["COLLOQUY_WEBSEARCH__BRAVE__COUNTRY", "DE", "websearch.brave.country", "DE"],
  ["COLLOQUY_WEBSEARCH__BRAVE__LANGUAGE", "de", "websearch.brave.language", "de"],
  ["COLLOQUY_WEBSEARCH__BRAVE__BASE_URL", "https://brave.lan", "websearch.brave.baseUrl", "https://brave.lan"],
  ["COLLOQUY_WEBSEARCH__BRAVE__REQUESTS_PER_SECOND", "20", "websearch.brave.requestsPerSecond", 20],
  ["COLLOQUY_WEBSEARCH__PAGES__ROBOTS", "off", "websearch.pages.robots", false],
  ["COLLOQUY_WEBSEARCH__PAGES__DELAY_SECONDS", "0.5", "websearch.pages.delaySeconds", 0.5],
  ["COLLOQUY_WEBSEARCH__PAGES__TIMEOUT_SECONDS", "10", "websearch.pages.timeoutSeconds", 10],
  ["COLLOQUY_WEBSEARCH__PAGES__MAX_MB", "2", "websearch.pages.maxMb", 2],
  ["COLLOQUY_WEBSEARCH__PAGES__ALLOW", "wiki.lan,10.0.0.0/8", "websearch.pages.allow", ["wiki.lan", "10.0.0.0/8"]],
  ["COLLOQUY_DEFINITIONS__PROGRAMS", "true", "definitions.programs", true],
  ["COLLOQUY_SANDBOX", "none", "sandbox.kind", "none"],
  ["COLLOQUY_SANDBOX__KIND", "landlock", "sandbox.kind", "landlock"],
  ["COLLOQUY_SANDBOX__PYTHON", "/opt/venv", "sandbox.python", "/opt/venv"],
  ["COLLOQUY_SANDBOX__IMAGE", "python:3.13", "sandbox.image", "python:3.13"],
  ["COLLOQUY_SANDBOX__MEMORY_MB", "512", "sandbox.memoryMb", 512],
  ["COLLOQUY_SANDBOX__PROCESSES", "32", "sandbox.processes", 32],
  ["COLLOQUY_SANDBOX__CPUS", "0.5", "sandbox.cpus", 0.5],
  ["COLLOQUY_SANDBOX__DISK_MB", "64", "sandbox.diskMb", 64],
  ["COLLOQUY_SANDBOX__TIMEOUT_SECONDS", "60", "sandbox.timeoutSeconds", 60],
  ["COLLOQUY_SANDBOX__OUTPUT_MB", "1", "sandbox.outputMb", 1],
  [
    "COLLOQUY_SANDBOX__NETWORK__ALLOW",
    "pypi.org,*.pythonhosted.org",
    "sandbox.network.allow",
    ["pypi.org", "*.pythonhosted.org"],
  ],
  ["COLLOQUY_SANDBOX__WORKSPACE", "/srv/start", "sandbox.workspace", "/srv/start"],
  ["COLLOQUY_STRATEGIES__REACT__MAX_ITERATIONS", "5", "strategies.react.maxIterations", 5],
  ["COLLOQUY_STRATEGIES__REACT__RETRY_ON_ERROR", "no", "strategies.react.retryOnError", false],
  ["COLLOQUY_STRATEGIES__PLAN__MAX_STEPS", "6", "strategies.plan.maxSteps", 6],
  ["COLLOQUY_STRATEGIES__PLAN__MAX_REVISIONS", "0", "strategies.plan.maxRevisions", 0],
  ["COLLOQUY_STRATEGIES__HISTORY__MESSAGES", "30", "strategies.history.messages", 30],
  ["COLLOQUY_MCP__DEFER_ABOVE", "10", "mcp.deferAbove", 10],
  ["COLLOQUY_AUTH__MODE", "accounts", "auth.mode", "accounts"],
  ["COLLOQUY_AUTH__SIGNUP", "open", "auth.signup", "open"],
  ["COLLOQUY_AUTH__TOKEN_HOURS", "12", "auth.tokenHours", 12],
  ["JWT_EXPIRATION_HOURS", "24", "auth.tokenHours", 24],
  ["COLLOQUY_AUTH__REQUESTS_PER_MINUTE", "60", "auth.requestsPerMinute", 60],
  ["COLLOQUY_LIMITS__DEADLINE_SECONDS", "9.5", "limits.deadlineSeconds", 9.5],
  ["COLLOQUY_LIMITS__DEADLINESECONDS", "10", "limits.deadlineSeconds", 10],
  ["COLLOQUY_LIMITS__STEPS", "3", "limits.steps", 3],
  ["COLLOQUY_LIMITS__TOOL_CALLS", "4", "limits.toolCalls", 4],
  ["COLLOQUY_LIMITS__WRITES", "0", "limits.writes", 0],
  ["COLLOQUY_LIMITS__REPEATED_CALL", "5", "limits.repeatedCall", 5],
  ["COLLOQUY_LIMITS__TOKENS", "1000", "limits.tokens", 1000],
  ["COLLOQUY_LIMITS__ON_LIMIT", "stop", "limits.onLimit", "stop"],
  ["COLLOQUY_LIMITS__COST", "0.5", "limits.cost", 0.5],
  ["COLLOQUY_APPROVAL__ASK", "delete_*,send_*", "approval.ask", ["delete_*", "send_*"]],
  ["COLLOQUY_CONCURRENCY__PER_USER", "1", "concurrency.perUser", 1],
  ["COLLOQUY_CONCURRENCY__PER_NODE", "2", "concurrency.perNode", 2],
  ["COLLOQUY_UPLOADS__FILE_MB", "50", "uploads.fileMb", 50],
  ["COLLOQUY_UPLOADS__USER_MB", "200", "uploads.userMb", 200],
  ["COLLOQUY_UPLOADS__USER_FILES", "20", "uploads.userFiles", 20],
  ["COLLOQUY_SESSIONS__MIRROR", "false", "sessions.mirror", false],
  ["COLLOQUY_RETENTION__HIDDEN_THREADS_DAYS", "0.5", "retention.hiddenThreadsDays", 0.5],
  ["COLLOQUY_RETENTION__CLIENT_WAIT_MINUTES", "5", "retention.clientWaitMinutes", 5],
  ["COLLOQUY_RETENTION__WAIT_DAYS", "2", "retention.waitDays", 2],
  ["COLLOQUY_RETENTION__IDEMPOTENCY_HOURS", "1", "retention.idempotencyHours", 1],
  ["COLLOQUY_LOG__LEVEL", "debug", "log.level", "debug"],
  ["COLLOQUY_LOG__PROMPTS", "on", "log.prompts", true],
  ["COLLOQUY_HOST", "::1", "server.host", "::1"],
  ["COLLOQUY_PORT", "0", "server.port", 0],
  ["COLLOQUY_LOG_LEVEL", "warn", "log.level", "warn"],
  ["DATABASE_URL", "postgresql://localhost/one", "database", "***"],
  ["LLM_BACKEND", "auto", "backend.kind", "auto"],
  ["OLLAMA_MODEL", "qwen3:8b", "backend.ollamaModel", "qwen3:8b"],
  ["DEFAULT_TEMPERATURE", "0", "backend.temperature", 0],
  ["REACT_MAX_ITERATIONS", "7", "strategies.react.maxIterations", 7],
  ["REACT_RETRY_ON_ERROR", "False", "strategies.react.retryOnError", false],
  ["PLAN_MAX_STEPS", "8", "strategies.plan.maxSteps", 8],
  ["PLAN_MAX_REVISIONS", "1", "strategies.plan.maxRevisions", 1],
  ["MAX_CONVERSATION_HISTORY", "20", "strategies.history.messages", 20],
];

for (const [name, text, path, value] of environmentNames) {
  test(`${name} sets ${path}`, () => {
    const source = `environment ${name}`;
    const config = loadConfig({ env: { COLLOQUY_CONFIG: file, [name]: text }, cwd: folder });
    assert.deepEqual(described(config, path), { path, value, source });
  });
}

test("the table above knows every setting", () => {
  const known = new Set(environmentNames.map(([, , path]) => path));
  assert.deepEqual(
    describeConfig(loadConfig({ env: {}, cwd: join(folder, "empty") })).filter(
      ({ path }) => !["models", "webhooks"].includes(path) && !known.has(path),
    ),
    [],
  );
});
