/**
 * Draws the rooms of the code, and who may import whom, from lint/layers.mjs: docs/layers.svg, and the table of floors in
 * docs/architecture.md. `--check` only says whether they are as they would be drawn.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { floors, mayImport } from "../lint/layers.mjs";

const root = dirname(import.meta.dirname);

/** What each room does, in a few words. */
const tells = {
  protocol: "the words as types, no I/O",
  store: "tables and migrations",
  egress: "requests behind a guard",
  models: "providers, retries, fallback",
  sandbox: "where agents' code runs",
  agents: "agents from files",
  client: "typed client of the API",
  config: "file and environment",
  knowledge: "uploads, documents, search",
  webhooks: "tells others of runs",
  tools: "tools of every kind, MCP",
  run: "the heart: log, turns, ledger, strategies",
  rooms: "agents and people in a thread",
  definitions: "what admins define",
  people: "accounts, retention, erasing",
  http: "the native API, foreign protocols, MCP",
  app: "puts the parts together",
  "main.ts": "starts and stops the server",
  tui: "the terminal",
  cli: "a file for each command",
  "cli.ts": "the command line",
  web: "the page, in a browser",
};
const outside = new Set(["client", "tui", "web"]);

const rooms = Object.keys(mayImport);
/** `*` is every room but the page; the two that may do so know each other, and count as beside one another. */
const isOpen = (room) => mayImport[room] === "*";
const importsOf = (room) => (isOpen(room) ? rooms.filter((each) => each !== "web" && !isOpen(each)) : mayImport[room]);

const heights = new Map();
function heightOf(room) {
  if (!heights.has(room)) heights.set(room, Math.max(-1, ...importsOf(room).map(heightOf)) + 1);
  return heights.get(room);
}

const rows = [];
for (const room of rooms) (rows[heightOf(room)] ??= []).push(room);
rows.reverse();

/** The shorter of what it may import and what of all below it may not. */
function importsText(room) {
  const allowed = importsOf(room);
  const below = rooms.filter((each) => heightOf(each) < heightOf(room));
  const barred = below.filter((each) => !allowed.includes(each));
  if (allowed.length === 0) return "imports nothing";
  if (barred.length === 0 && allowed.length > 3) return "imports all below";
  return barred.length + 3 < allowed.length
    ? `imports all below but ${barred.join(", ")}`
    : `imports ${allowed.join(", ")}`;
}

const width = 960;
const gap = 10;
const boxHeight = 58;
const rowHeight = boxHeight + 12;

function boxOf(room, x, y, boxWidth) {
  const middle = x + boxWidth / 2;
  const texts = [...wrapped(importsText(room), (boxWidth - 10) / 5.3)].map(
    (line, index) => `  <text class="imports" x="${middle}" y="${y + 49 + index * 12}">${line}</text>`,
  );
  return [
    `  <rect${outside.has(room) ? ' class="outside"' : ""} x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}"/>`,
    `  <text class="name" x="${middle}" y="${y + 18}">${room.endsWith(".ts") ? room : `${room}/`}</text>`,
    `  <text class="tells" x="${middle}" y="${y + 34}">${tells[room] ?? missing(room)}</text>`,
    ...texts,
  ];
}

function missing(room) {
  throw new Error(`scripts/draw-layers.mjs does not say what ${room} does`);
}

function wrapped(text, characters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1) !== "" && `${lines.at(-1)} ${word}`.length > characters) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines;
}

function drawing() {
  const boxes = rows.flatMap((row, index) => {
    const boxWidth = Math.min(460, (width - gap * (row.length - 1)) / row.length);
    const start = (width - boxWidth * row.length - gap * (row.length - 1)) / 2;
    return row.flatMap((room, at) =>
      boxOf(room, round(start + at * (boxWidth + gap)), 8 + index * rowHeight, round(boxWidth)),
    );
  });
  const height = rows.length * rowHeight + 4;
  return `<!-- Made by scripts/draw-layers.mjs from lint/layers.mjs. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 0 ${width + 8} ${height}" role="img" aria-labelledby="title description">
  <title id="title">The rooms of the code</title>
  <desc id="description">Each box is a folder or file of src/. It imports only from boxes below it, those that it names, and never from one beside it.</desc>
  <style>
    text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
    .name { font: 600 13px ui-monospace, monospace }
    .tells { font-size: 11px }
    .imports { font-size: 10.5px; fill: #59636e }
    rect { fill: #f6f8fa; stroke: #818b98; rx: 6px; ry: 6px }
    .outside { fill: #ddf4ff; stroke: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .imports { fill: #9198a1 }
      rect { fill: #151b23; stroke: #656c76 }
      .outside { fill: #121d2f; stroke: #4493f8 }
    }
  </style>
${boxes.join("\n")}
</svg>
`;
}

function round(value) {
  return Number(value.toFixed(1));
}

const neighbours = (floor) => (Array.isArray(floor) ? `(${floor.join(", ")})` : floor === "*" ? "(each view)" : floor);

function floorsTable() {
  const lines = Object.entries(floors).map(([room, list]) => `| \`${room}/\` | ${list.map(neighbours).join(" → ")} |`);
  return ["| room | its floors, the lowest first |", "|---|---|", ...lines].join("\n");
}

const svg = join(root, "docs/layers.svg");
const page = join(root, "docs/architecture.md");
const text = readFileSync(page, "utf8");
const wanted = new Map([
  [svg, drawing()],
  [
    page,
    text.replace(/(<!-- floors -->\n)[^]*?(<!-- \/floors -->)/, (_, begin, end) => `${begin}${floorsTable()}\n${end}`),
  ],
]);
for (const [file, content] of wanted) {
  if (existsSync(file) && readFileSync(file, "utf8") === content) continue;
  if (process.argv.includes("--check")) {
    console.error(`${file} is not as lint/layers.mjs says: run node scripts/draw-layers.mjs`);
    process.exitCode = 1;
  } else writeFileSync(file, content);
}
