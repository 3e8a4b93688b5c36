/**
 * The walls of the house as an oxlint plugin: which room may import which, the floors inside a room, "siblings do not import
 * siblings", one home for each heavy package, and who may write which table. To move a wall, change the data here and write a
 * decision. What needs the whole tree at once is in house.mjs.
 */
import { dirname, relative, resolve } from "node:path";

/** What each room, and each file directly in src/, may import from the others. "*": everything but the page. */
export const mayImport = {
  protocol: [],
  store: ["protocol"],
  egress: ["protocol"],
  models: ["protocol"],
  sandbox: ["protocol"],
  agents: ["protocol"],
  client: ["protocol"],
  config: ["protocol", "models"],
  knowledge: ["protocol", "store", "egress"],
  webhooks: ["protocol", "store", "egress"],
  tools: ["protocol", "store", "egress", "sandbox", "knowledge"],
  run: ["protocol", "store", "agents", "tools"],
  rooms: ["protocol", "store", "agents", "run"],
  definitions: ["protocol", "store", "egress", "agents", "models", "tools"],
  people: ["protocol", "store", "egress", "sandbox", "knowledge", "run"],
  http: [
    ...["protocol", "store", "egress", "models", "sandbox", "agents", "knowledge", "tools", "run", "rooms"],
    ...["definitions", "people"],
  ],
  app: [
    ...["protocol", "store", "egress", "models", "sandbox", "agents", "knowledge", "tools", "run", "rooms"],
    ...["definitions", "people", "http", "webhooks", "config"],
  ],
  "main.ts": [
    ...["protocol", "store", "egress", "models", "sandbox", "agents", "knowledge", "tools", "run", "rooms"],
    ...["definitions", "people", "http", "webhooks", "config", "app"],
  ],
  tui: ["protocol", "client"],
  cli: "*",
  "cli.ts": "*",
  web: ["protocol", "client"],
};

/**
 * The floors of a room, the lowest first: a floor imports from those below it. A floor is a folder or a file of the room;
 * those in one list are neighbours that do not know each other.
 */
export const floors = {
  protocol: ["base", "knowledge", "agents", "threads", "people"],
  store: [
    ...["driver", "schema", "secrets"],
    ["people", "knowledge", "metering", "rooms", "tasks", "definitions", "deliveries", "shares", "folders"],
    ...["privacy", "moving", "installation"],
  ],
  models: ["transport", "demo", "config", "discovery", "providers", "serving", "registry"],
  sandbox: [
    ...[
      "sandbox",
      "workspace",
      "process",
      "quota",
      "drivers",
      "python",
      "proxied-source",
      "python-source",
      "self-test",
    ],
    "choose",
  ],
  knowledge: ["parse", "embedding", ["documents", "uploads"], "knowledge", "search", "evaluation"],
  tools: ["core", ["files", "code", "basic", "mcp", "remote", "taiga", "web"], "ppt-maker", "built-in"],
  run: [
    ...[
      "traced-run",
      "brought-results",
      "kept-conversations",
      "conversation-settings",
      "placed-threads",
      "runs",
      "services",
      "log",
      "text",
      "engine",
      "contract",
      "limits",
      "lifecycle",
      "prompt",
      "step",
      "turn",
    ],
    ...["strategies", "views", "threads", "verbs", "background", "create-runs"],
  ],
  http: [
    ...["shapes", "stream", "files", "server", "requests", "answers"],
    ["routes", "dialects", "mcp", "tools-server"],
    ["account-routes", "definition-routes", "knowledge-routes", "person-routes", "response-routes", "room-routes"],
    ...["all-routes", "app"],
  ],
  config: ["tree", "problems", "environment", "file", "sections", "schema", "redacted-setting", "load", "watch"],
  web: [
    ...["browser", "words", "page", "stream", "parts", "threads", "markdown", "conversation"],
    ["turn", "run-list"],
    // Every other folder is a view.
    "*",
    "shell",
  ],
};

/**
 * Folders whose entries do not know each other, so that each can be read alone: each file or folder is an entry, except
 * `shared`. `entries` are those of several files: `openai-answer.ts` belongs to the entry `openai`.
 */
const apart = [
  { folder: "tools/basic", shared: ["tasks"] },
  { folder: "tools/code", shared: ["command-result", "npm-program", "python-code", "run-command"] },
  { folder: "tools/files", shared: ["define-file-tool", "file-text", "search-lines"] },
  {
    folder: "sandbox/drivers",
    entries: ["bubblewrap", "docker", "landlock", "simulated", "unsafe-native"],
    shared: ["cgroups", "cgroups-hierarchies", "seccomp"],
  },
  {
    folder: "models/providers",
    entries: ["openai", "ollama", "anthropic", "ai-sdk"],
    shared: ["hosts", "request-values"],
  },
  {
    folder: "run/strategies",
    entries: ["auto", "chat", "json-actions", "plan-execute", "react", "tools"],
    shared: ["dry-run", "strategies"],
  },
  ...["account", "admin", "agents", "knowledge", "page", "rooms", "runs", "threads"].map((subject) => ({
    folder: `http/routes/${subject}`,
    shared: ["auth", "entry-page", "page-words"],
  })),
  { folder: "http/routes", shared: [] },
  { folder: "http/dialects", shared: [] },
];

/** Folders with one door: only the file named opens it, by import(), so that nobody loads them who has no need of them. */
const doors = [{ folder: "store/schema/old-migrations/", by: "store/schema/migrate" }];

/** Where a heavy package may be imported: the beginnings of paths in src/ (their tests included). */
const homes = [
  { packages: /^undici$/, in: ["models/", "egress/"] },
  { packages: /^(pg|@electric-sql\/.+)$/, in: ["store/driver/", "store/knowledge/search-extensions"] },
  { packages: /^jsonrepair$/, in: ["run/text/lenient-json"] },
  { packages: /^pg-boss$/, in: ["run/engine/"] },
  { packages: /^(fastify|@fastify\/.+|fastify-type-provider-zod)$/, in: ["http/"] },
  { packages: /^@modelcontextprotocol\/client$/, in: ["tools/mcp/"] },
  { packages: /^@modelcontextprotocol\/server$/, in: ["http/mcp/"] },
  { packages: /^@modelcontextprotocol\/core$/, in: ["tools/mcp/", "http/mcp/"] },
  { packages: /^(@ai-sdk\/.+|ai)$/, in: ["models/providers/"] },
  { packages: /^jose$/, in: ["people/"] },
  { packages: /^@node-rs\/bcrypt$/, in: ["people/passwords"] },
  { packages: /^@zxcvbn-ts\/.+$/, in: ["people/common-passwords", "people/passwords"] },
  { packages: /^openid-client$/, in: ["people/oidc"] },
  { packages: /^(pino|pino-pretty)$/, in: ["app/log"] },
  { packages: /^just-bash$/, in: ["sandbox/drivers/simulated"] },
  { packages: /^ajv$/, in: ["run/text/json-schema"] },
  {
    packages:
      /^(unpdf|mammoth|officeparser|@e965\/xlsx|csv-parse(\/.+)?|linkedom|@mozilla\/readability|turndown|@lezer\/.+|yauzl)$/,
    in: ["knowledge/parse/"],
  },
  { packages: /^yaml$/, in: ["config/", "agents/", "rooms/load-rooms"] },
  { packages: /^@earendil-works\/pi-tui$/, in: ["tui/"] },
  {
    packages: /^(react|react-dom|react-markdown|lucide-react|mermaid|lowlight|rehype-.+|remark-.+)$/,
    in: ["web/"],
  },
];

/**
 * Whose SQL may write a table; every table of the migrations is here. What stands in one statement with an event of a run is
 * written by run as well. Import writes all of them, by names that no rule reads.
 */
const writers = [
  {
    in: ["run/"],
    tables: [
      ...["budgets", "deltas", "feedback", "grants", "idempotency_keys", "items", "ledger", "pending", "room_callers"],
      ...["nodes", "run_definitions", "runs", "schedules", "thread_places", "threads"],
    ],
  },
  {
    in: ["store/"],
    tables: [
      ...[
        "account_links",
        "api_keys",
        "audit_log",
        "definitions",
        "deliveries",
        "erasures",
        "folders",
        "group_members",
        "groups",
      ],
      ...["identities", "login_failures", "mcp_credentials", "meta", "model_calls", "rag_chunks", "rag_collections"],
      ...["rag_documents", "rag_indexes", "rag_terms", "rag_traces", "rag_vectors", "removed_threads", "retention"],
      ...["room_people", "room_presence", "rooms", "run_secrets", "shares", "signing_keys", "spending"],
      ...["spending_budgets", "spending_holds", "task_calls", "tasks", "uploads", "usage_rollups", "users"],
      "web_sessions",
    ],
  },
  { in: ["run/log/append", "run/lifecycle/message-queue"], tables: ["deliveries", "model_calls"] },
  { in: ["run/lifecycle/accept"], tables: ["run_secrets"] },
  // A room has a thread, made with it.
  { in: ["store/rooms/rooms"], tables: ["threads"] },
  // Erasing a person goes through every table that names one.
  { in: ["store/privacy/"], tables: ["budgets", "ledger", "run_definitions", "runs"] },
  // A document and what its collection counts, in one transaction.
  { in: ["knowledge/documents/documents"], tables: ["rag_collections"] },
];

const root = dirname(import.meta.dirname);

/** The path in src/ (`run/turn/execute.ts`), or with the room `web` in front; undefined for what is elsewhere. */
function placeOf(file) {
  const path = relative(root, file).replaceAll("\\", "/");
  if (path.startsWith("src/")) return path.slice("src/".length);
  return path.startsWith("web/") ? path : undefined;
}

/** A room's name, or the file's for one directly in src/. */
function roomOf(place) {
  return place.split("/")[0];
}

/** Where a file stands in its room: how high, and the name of its floor. Undefined in a room without floors. */
function floorOf(place) {
  const [room, first] = place.split("/");
  if (!Object.hasOwn(floors, room) || first === undefined) return undefined;
  const name = stem(first);
  const height = floors[room].findIndex((floor) => [floor].flat().includes(name));
  const isFolder = place.split("/").length > 2;
  return { name, height: height === -1 && isFolder ? floors[room].indexOf("*") : height };
}

/** What of a folder whose entries stand apart a file belongs to; undefined for what they share, and for what is elsewhere. */
function entryOf({ folder, entries = [], shared }, place) {
  if (!place.startsWith(`${folder}/`)) return undefined;
  const name = stem(place.slice(folder.length + 1).split("/")[0]);
  return shared.includes(name) ? undefined : (entries.find((entry) => isPartOf(name, entry)) ?? name);
}

function isPartOf(name, owner) {
  return name === owner || name.startsWith(`${owner}-`);
}

/** Whether a file stands in a folder (`people/`), or is one by name (`people/oidc`, its test and its parts). */
function isBelow(place, start) {
  return start.endsWith("/") ? place.startsWith(start) : isPartOf(stem(place), start);
}

function stem(name) {
  return name.replace(/(\.test|\.long\.test)?\.tsx?$/, "");
}

function isTest(place) {
  return /\.test\.tsx?$/.test(place);
}

function packageOf(specifier) {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** A rule over every import of a file in src/, in whatever form it is written. */
function importRule(check) {
  return {
    create(context) {
      const place = placeOf(context.filename);
      if (place === undefined) return {};
      const visit = (node, source) => {
        if (typeof source?.value !== "string") return;
        const isRelative = source.value.startsWith(".");
        const target = isRelative ? resolve(dirname(context.filename), source.value) : undefined;
        const isLazy = node.type === "ImportExpression";
        const message = check({
          place,
          specifier: source.value,
          target,
          targetPlace: target && placeOf(target),
          isLazy,
        });
        if (message) context.report({ node, message });
      };
      return {
        ImportDeclaration: (node) => visit(node, node.source),
        ExportNamedDeclaration: (node) => visit(node, node.source),
        ExportAllDeclaration: (node) => visit(node, node.source),
        ImportExpression: (node) => visit(node, node.source),
        TSImportType: (node) => visit(node, node.source ?? node.argument?.literal ?? node.argument),
      };
    },
  };
}

const imports = importRule(({ place, target, targetPlace }) => {
  if (target === undefined || isTest(place)) return undefined;
  if (targetPlace === undefined) return `Code in src/ imports only from src/; ${relative(root, target)} is outside.`;
  if (isTest(targetPlace)) return "Code does not import from a test.";
  const [from, to] = [roomOf(place), roomOf(targetPlace)];
  const allowed = mayImport[from] ?? [];
  if (from === to || (allowed === "*" && to !== "web") || allowed.includes(to)) return undefined;
  return `${from} may not import ${to}; it may import ${[allowed].flat().join(", ") || "nothing"}.`;
});

const floorsRule = importRule(({ place, targetPlace }) => {
  if (targetPlace === undefined || isTest(place) || isTest(targetPlace) || roomOf(place) !== roomOf(targetPlace))
    return undefined;
  const [from, to] = [floorOf(place), floorOf(targetPlace)];
  if (!from || !to || from.name === to.name || to.height < from.height) return undefined;
  const relation = to.height === from.height ? "its neighbour" : "the floor above";
  return `In ${roomOf(place)}/, ${from.name} may not import ${relation}, ${to.name}: hand it in, or move what both need.`;
});

const siblings = importRule(({ place, targetPlace }) => {
  if (targetPlace === undefined || isTest(place)) return undefined;
  for (const group of apart) {
    const [from, to] = [entryOf(group, place), entryOf(group, targetPlace)];
    if (from !== undefined && to !== undefined && from !== to)
      return `In ${group.folder}/, ${from} may not import its sibling ${to}: hand it in, or move what both need.`;
  }
  return undefined;
});

const doorsRule = importRule(({ place, targetPlace, isLazy }) => {
  if (targetPlace === undefined || isTest(place)) return undefined;
  const door = doors.find(({ folder }) => targetPlace.startsWith(folder) && !place.startsWith(folder));
  if (!door || (isLazy && stem(place) === door.by)) return undefined;
  return `src/${door.folder} is imported by src/${door.by}.ts alone, with import().`;
});

const packages = importRule(({ place, specifier, target }) => {
  if (target !== undefined) return undefined;
  const home = homes.find((each) => each.packages.test(packageOf(specifier)));
  if (!home || home.in.some((start) => isBelow(place, start))) return undefined;
  return `${packageOf(specifier)} is imported only in src/${home.in.join(", src/")}.`;
});

/** Of the page, and no part of it. */
const buildFiles = new Set(["web/vite.config.ts", "web/lingui.config.ts", "web/service-worker.js"]);

/** Every file stands in a room that the table knows, and on one of its floors. */
const places = {
  create(context) {
    const place = placeOf(context.filename);
    if (place === undefined) return {};
    const [room, first] = place.split("/");
    const isOnFloor = isTest(place) || buildFiles.has(place) || (floorOf(place)?.height ?? 0) >= 0;
    if (Object.hasOwn(mayImport, room) && isOnFloor) return {};
    const message = Object.hasOwn(mayImport, room)
      ? `${room}/${first} is on no floor of its room (lint/layers.mjs).`
      : `src/${room} is not in the table of rooms (lint/layers.mjs).`;
    return { Program: (node) => context.report({ node, message }) };
  },
};

const table = String.raw`(?:only\s+)?(?:public\.)?"?(\w+)"?`;
const writing = new RegExp(
  String.raw`\b(?:insert\s+into|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+${table}|\bupdate\s+${table}\s+(?:(?:as\s+)?\w+\s+)?set\b`,
  "gi",
);
const isOwned = new Set(writers.flatMap(({ tables }) => tables));

/** A table is written by its room alone. */
const tables = {
  create(context) {
    const place = placeOf(context.filename);
    if (place === undefined || isTest(place) || /^(store\/schema\/(old-)?migrations|web)\//.test(place)) return {};
    const mine = new Set(
      writers.filter((each) => each.in.some((start) => isBelow(place, start))).flatMap((each) => each.tables),
    );
    const visit = (node, text) => {
      for (const [, first, second] of text.matchAll(writing)) {
        const name = (first ?? second).toLowerCase();
        if (isOwned.has(name) && !mine.has(name))
          context.report({ node, message: `The table ${name} is written by its own room alone (lint/layers.mjs).` });
      }
    };
    return {
      TemplateElement: (node) => visit(node, node.value.raw),
      Literal: (node) => typeof node.value === "string" && visit(node, node.value),
    };
  },
};

/** For the check that no table is forgotten. */
export const ownedTables = isOwned;

export default {
  meta: { name: "layers" },
  rules: { imports, floors: floorsRule, siblings, doors: doorsRule, packages, places, tables },
};
