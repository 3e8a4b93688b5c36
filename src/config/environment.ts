import { childNodes, coerce, keysOf, nodesAt, pathText, variable } from "./tree.ts";
import type { Environment, ConfigSources, ConfigPath, SchemaNode, ConfigTree } from "./tree.ts";
import { suggestion } from "./problems.ts";

/** Names that are not built from their path: short forms, and those of other tools. */
const shortForms: Readonly<Record<string, ConfigPath>> = {
  COLLOQUY_HOST: ["server", "host"],
  COLLOQUY_PORT: ["server", "port"],
  COLLOQUY_LOG_LEVEL: ["log", "level"],
  COLLOQUY_SANDBOX: ["sandbox", "kind"],
  COLLOQUY_TOOLS: ["tools", "folder"],
  COLLOQUY_TITLES: ["titles", "by"],
  COLLOQUY_OPEN: ["auth", "openBrowser"],
  CORS_ORIGINS: ["server", "corsOrigins"],
  JWT_EXPIRATION_HOURS: ["auth", "tokenHours"],
  COLLOQUY_DATABASE: ["database", "url"],
  DATABASE_URL: ["database", "url"],
  LLM_BACKEND: ["backend", "kind"],
  OLLAMA_MODEL: ["backend", "ollamaModel"],
  OLLAMA_HOST: ["backend", "ollamaUrl"],
  // The clearer of the two: Ollama itself reads the other one for where it listens.
  OLLAMA_BASE_URL: ["backend", "ollamaUrl"],
  DEFAULT_TEMPERATURE: ["backend", "temperature"],
  REACT_MAX_ITERATIONS: ["strategies", "react", "maxIterations"],
  REACT_RETRY_ON_ERROR: ["strategies", "react", "retryOnError"],
  PLAN_MAX_STEPS: ["strategies", "plan", "maxSteps"],
  PLAN_MAX_REVISIONS: ["strategies", "plan", "maxRevisions"],
  MAX_CONVERSATION_HISTORY: ["strategies", "history", "messages"],
  AVAILABLE_TOOLS: ["tools", "available"],
  DEFAULT_TOOL_TIMEOUT: ["tools", "defaultTimeoutSeconds"],
  PYTHON_EXECUTOR_MODE: ["tools", "python_coder", "mode"],
  NANOCODER_PATH: ["tools", "python_coder", "nanocoder"],
  NANOCODER_TIMEOUT: ["tools", "python_coder", "nanocoderTimeout"],
  RAG_CHUNK_SIZE: ["rag", "chunkSize"],
  RAG_CHUNK_OVERLAP: ["rag", "chunkOverlap"],
  RAG_EMBEDDING_MODEL: ["rag", "embeddingModel"],
  RAG_EMBEDDING_URL: ["rag", "embeddingUrl"],
  RAG_EMBEDDING_API_KEY: ["rag", "embeddingApiKey"],
  RAG_INDEX_TYPE: ["rag", "indexType"],
  RAG_RETRIEVAL: ["rag", "retrieval"],
  RAG_HYBRID_WEIGHT: ["rag", "hybridWeight"],
  TOOLS_HOST: ["tools", "host"],
  TOOLS_PORT: ["tools", "port"],
  TOOLS_TOKEN: ["tools", "token"],
  TAVILY_API_KEY: ["websearch", "tavily", "apiKey"],
  TAVILY_SEARCH_DEPTH: ["websearch", "tavily", "depth"],
  SEARXNG_URL: ["websearch", "searxng", "url"],
  BRAVE_API_KEY: ["websearch", "brave", "apiKey"],
  WEBSEARCH_MAX_RESULTS: ["websearch", "maxResults"],
};

/** JSON objects by the names of tools; each of their values goes where it belongs to its tool. */
const toolMaps: Readonly<Record<string, ConfigPath>> = { TOOL_MODELS: ["model"], TOOL_PARAMETERS: [] };

const prefix = "COLLOQUY_";

/** Which file to read; what a tool's process is told; what the tests say among themselves. */
const notSettings = /^COLLOQUY_(CONFIG$|IDEMPOTENCY_KEY$|TEST_)/;

/** Kubernetes gives every pod such variables when a service is called `colloquy`, `COLLOQUY_PORT=tcp://…` among them. */
const serviceLink = /^COLLOQUY_(SERVICE_|PORT_\d)/;

/** Lays the environment's values over those in `gathered`. */
export function readEnvironment(gathered: ConfigSources, environment: Environment, schema: SchemaNode): void {
  const set = (name: string, path: ConfigPath, given: unknown): void => {
    const value = typeof given === "string" ? coerce(given, nodesAt(schema, path)) : given;
    if (!assign(gathered.values, path, value)) return;
    const key = pathText(path);
    gathered.origins.set(key, `environment ${name}`);
    gathered.absent.delete(key);
    for (const inner of gathered.origins.keys()) if (inner.startsWith(`${key}[`)) gathered.origins.delete(inner);
  };

  for (const [name, path] of Object.entries(shortForms)) {
    const text = variable(environment, name);
    if (text !== undefined && !(name === "COLLOQUY_PORT" && text.startsWith("tcp://"))) set(name, path, text);
  }

  for (const [name, key] of Object.entries(toolMaps)) {
    const text = variable(environment, name);
    const map = text === undefined ? [] : readMap(text);
    if (!map) gathered.problems.push({ where: `environment ${name}`, path: "", text: "is not a JSON object" });
    for (const [path, value] of map ?? []) set(name, ["tools", ...path, ...key], value);
  }

  // In numeric order, so that a list's entries come one after the other.
  const names = Object.keys(environment).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const name of names) {
    const text = variable(environment, name);
    if (text === undefined || !name.startsWith(prefix) || name in shortForms) continue;
    if (notSettings.test(name) || serviceLink.test(name)) continue;
    const found = pathOf(name, gathered.values, schema);
    if ("path" in found) set(name, found.path, text);
    else gathered.problems.push({ where: `environment ${name}`, path: "", text: found.fault });
  }
}

/** `COLLOQUY_LIMITS__DEADLINE_SECONDS` → limits.deadlineSeconds. */
function pathOf(name: string, values: ConfigTree, schema: SchemaNode): { path: ConfigPath } | { fault: string } {
  const path: (string | number)[] = [];
  let nodes = nodesAt(schema, []);
  let value: unknown = values;
  let known = prefix;
  for (const segment of name.slice(prefix.length).split("__")) {
    const part = /^\d+$/.test(segment) ? Number(segment) : keyOf(segment, nodes);
    const children = part === undefined ? [] : childNodes(nodes, part);
    if (part === undefined || children.length === 0) {
      const shortNames = path.length === 0 ? Object.keys(shortForms).filter((each) => each.startsWith(prefix)) : [];
      const candidates = [...keysOf(nodes).map(upperSnake), ...shortNames.map((each) => each.slice(prefix.length))];
      return { fault: `no setting has this name${suggestion(segment, candidates, known)}` };
    }
    if (typeof part === "number" && part > (Array.isArray(value) ? value.length : 0)) {
      return { fault: `${pathText(path)} has only ${Array.isArray(value) ? value.length : 0} entries; the first is 0` };
    }
    path.push(part);
    known += `${typeof part === "number" ? part : upperSnake(part)}__`;
    nodes = children;
    value = typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined;
  }
  const inner = keysOf(nodes);
  if (inner.length === 0) return { path };
  return {
    fault: `this names a group, not a value; its values: ${inner.map((key) => known + upperSnake(key)).join(", ")}`,
  };
}

function keyOf(segment: string, nodes: readonly SchemaNode[]): string | undefined {
  const plain = (name: string) => name.replaceAll("_", "").toLowerCase();
  return keysOf(nodes).find((key) => plain(key) === plain(segment));
}

/** The values of a JSON object and of the objects in it, by their paths; undefined if it is none. */
function readMap(text: string): [path: ConfigPath, value: unknown][] | undefined {
  try {
    const map: unknown = JSON.parse(text);
    return isObject(map) ? valuesOf(map) : undefined;
  } catch {
    return undefined;
  }
}

function valuesOf(map: object): [path: ConfigPath, value: unknown][] {
  return Object.entries(map).flatMap(([key, value]): [ConfigPath, unknown][] =>
    isObject(value) ? valuesOf(value).map(([path, inner]) => [[key, ...path], inner]) : [[[key], value]],
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function upperSnake(key: string): string {
  return key.replaceAll(/[A-Z]/g, "_$&").toUpperCase();
}

/** Sets the value and makes groups and lists on its way; false where something else stands in the way. */
function assign(tree: ConfigTree, path: ConfigPath, value: unknown): boolean {
  let at: object = tree;
  for (const [depth, part] of path.slice(0, -1).entries()) {
    const existing: unknown = Reflect.get(at, part);
    const next = existing ?? (typeof path[depth + 1] === "number" ? [] : {});
    if (typeof next !== "object" || next === null) return false;
    Reflect.set(at, part, next);
    at = next;
  }
  return Reflect.set(at, path.at(-1) ?? "", value);
}
