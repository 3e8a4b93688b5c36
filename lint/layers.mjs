/**
 * The walls of the house as an oxlint plugin: the import table of the design, "siblings do not import siblings", and
 * one home for each heavy package. To open a room or to give a package a home, change the data here, with a reason.
 */
import { dirname, relative, resolve } from "node:path";

/** What each room, and each file directly in src/, may import from the others. "*": everything. */
const mayImport = {
  protocol: [],
  store: ["protocol"],
  models: ["protocol"],
  sandbox: ["protocol"],
  agents: ["protocol"],
  client: ["protocol"],
  egress: ["protocol"],
  knowledge: ["protocol", "store", "models", "egress"],
  tools: ["protocol", "store", "sandbox", "knowledge", "egress"],
  run: ["protocol", "agents", "models", "tools", "store"],
  rooms: ["protocol", "agents", "run", "store"],
  http: ["protocol", "run", "rooms", "agents", "models", "tools", "sandbox", "knowledge", "egress", "store"],
  tui: ["protocol", "client"],
  web: ["protocol", "client"],
  "config.ts": ["protocol", "models"],
  "log.ts": ["protocol"],
  "main.ts": "*",
  "cli.ts": "*",
};

/**
 * Folders whose entries do not know each other. `entries` names them; without it each file or folder is one, except
 * `shared`. A file `openai-answer.ts` belongs to the entry `openai`.
 */
const apart = [
  {
    folder: "tools",
    shared: [
      "built-in",
      "call-tool",
      "command-result",
      "define-tool",
      "file-text",
      "file-tool",
      "glob",
      "model-relay",
      "npm-program",
      "python-code",
      "registry",
      "run-command",
      "search-tools",
      "tool-result",
      "tool-settings",
      "tool-tokens",
      "user-tools",
    ],
  },
  { folder: "sandbox", entries: ["bubblewrap", "docker", "landlock", "simulated", "unsafe-native"] },
  { folder: "models", entries: ["openai", "ollama", "anthropic", "ai-sdk", "demo", "scripted"] },
  {
    folder: "run/strategies",
    entries: ["auto", "call", "chat", "json-actions", "plan-execute", "react", "tools"],
  },
  { folder: "http/routes", shared: [] },
  { folder: "http/dialects", shared: [] },
];

/** Where a heavy package may be imported: the beginnings of paths in src/ (their tests included). */
const homes = [
  { packages: /^undici$/, in: ["models/", "egress/"] },
  { packages: /^(kysely|pg|@electric-sql\/.+)$/, in: ["store/"] },
  { packages: /^jsonrepair$/, in: ["run/lenient-json"] },
  { packages: /^pg-boss$/, in: ["run/engine"] },
  { packages: /^(fastify|@fastify\/.+|fastify-type-provider-zod)$/, in: ["http/"] },
  { packages: /^@modelcontextprotocol\/client$/, in: ["tools/"] },
  { packages: /^@modelcontextprotocol\/server$/, in: ["http/mcp/"] },
  { packages: /^@modelcontextprotocol\/core$/, in: ["tools/", "http/"] },
  { packages: /^(@ai-sdk\/.+|ai)$/, in: ["models/"] },
  { packages: /^jose$/, in: ["http/accounts/"] },
  { packages: /^@node-rs\/bcrypt$/, in: ["http/accounts/passwords"] },
  { packages: /^openid-client$/, in: ["http/accounts/oidc"] },
  { packages: /^(pino|pino-pretty)$/, in: ["log"] },
  { packages: /^just-bash$/, in: ["sandbox/simulated"] },
  { packages: /^ajv$/, in: ["run/json-schema"] },
  {
    packages:
      /^(unpdf|mammoth|officeparser|@e965\/xlsx|csv-parse(\/.+)?|linkedom|@mozilla\/readability|turndown|@lezer\/.+|yauzl)$/,
    in: ["knowledge/parse/"],
  },
  { packages: /^yaml$/, in: ["config", "agents/", "rooms/load-rooms"] },
  { packages: /^@earendil-works\/pi-tui$/, in: ["tui/"] },
  { packages: /^(react|react-dom|@assistant-ui\/.+)$/, in: ["web/"] },
];

const root = dirname(import.meta.dirname);

/** The path in src/ (`run/turn.ts`), or with the room `web` in front; undefined for what is elsewhere. */
function placeOf(file) {
  const path = relative(root, file).replaceAll("\\", "/");
  if (path.startsWith("src/")) return path.slice("src/".length);
  return path.startsWith("web/") ? path : undefined;
}

/** A room's name, or the file's for one directly in src/: `config-file.ts` belongs to `config.ts`. */
function roomOf(place) {
  const [first, ...rest] = place.split("/");
  if (rest.length > 0) return first;
  return Object.keys(mayImport).find((name) => name.endsWith(".ts") && isPartOf(stem(first), stem(name))) ?? first;
}

function entryOf({ folder, entries, shared }, place) {
  if (!place.startsWith(`${folder}/`)) return undefined;
  const name = stem(place.slice(folder.length + 1).split("/")[0]);
  if (entries) return entries.find((entry) => isPartOf(name, entry));
  return shared.includes(name) ? undefined : name;
}

function isPartOf(name, owner) {
  return name === owner || name.startsWith(`${owner}-`);
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
        const message = check({ place, specifier: source.value, target, targetPlace: target && placeOf(target) });
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
  if (from === to || allowed === "*" || allowed.includes(to)) return undefined;
  return `${from} may not import ${to}; it may import ${allowed.join(", ") || "nothing"}.`;
});

const siblings = importRule(({ place, targetPlace }) => {
  if (targetPlace === undefined || isTest(place)) return undefined;
  for (const group of apart) {
    const [from, to] = [entryOf(group, place), entryOf(group, targetPlace)];
    const isApart = from !== undefined && to !== undefined && !isPartOf(from, to) && !isPartOf(to, from);
    if (isApart)
      return `In ${group.folder}/, ${from} may not import its sibling ${to}: hand it in, or move what both need.`;
  }
  return undefined;
});

const packages = importRule(({ place, specifier, target }) => {
  if (target !== undefined) return undefined;
  const home = homes.find((each) => each.packages.test(packageOf(specifier)));
  if (!home || home.in.some((start) => place.startsWith(start))) return undefined;
  return `${packageOf(specifier)} is imported only in src/${home.in.join(", src/")}.`;
});

/** Every file of src/ stands in a room that the table knows. */
const places = {
  create(context) {
    const place = placeOf(context.filename);
    if (place === undefined || Object.hasOwn(mayImport, roomOf(place))) return {};
    const message = `src/${place.split("/")[0]} is not in the table of rooms (lint/layers.mjs).`;
    return { Program: (node) => context.report({ node, message }) };
  },
};

export default { meta: { name: "layers" }, rules: { imports, siblings, packages, places } };
