// Minutes → stories and tasks of a sprint: README.md says how to start it.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";

const {
  COLLOQUY_URL = "http://localhost:8000",
  COLLOQUY_API_KEY,
  TAIGA_URL,
  TAIGA_USERNAME,
  TAIGA_PASSWORD,
} = process.env;
const [project, sprint, file, mode] = process.argv.slice(2);
if (!file) {
  console.error("node taiga-client.mjs <project> <sprint> <file with minutes> [--dry-run]");
  process.exit(2);
}

/** A person's login lasts a day; `refresh` lets a long run renew it. */
async function signIn() {
  if (process.env.TAIGA_TOKEN) return { "x-taiga-token": process.env.TAIGA_TOKEN };
  const response = await fetch(`${TAIGA_URL}/api/v1/auth`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "normal", username: TAIGA_USERNAME, password: TAIGA_PASSWORD }),
  });
  if (!response.ok) throw new Error(`Taiga did not take the login (${response.status}).`);
  const { auth_token: token, refresh } = await response.json();
  return { "x-taiga-token": token, "x-taiga-refresh": refresh };
}

const headers = {
  "content-type": "application/json",
  ...(COLLOQUY_API_KEY ? { authorization: `Bearer ${COLLOQUY_API_KEY}` } : {}),
};

async function ask(path, options) {
  const response = await fetch(COLLOQUY_URL + path, options);
  const body = await response.json();
  if (!response.ok && !body.run_id) throw new Error(body.error?.message ?? `HTTP ${response.status}`);
  return body;
}

/** Server-sent events as they come: [name, data]. */
async function* eventsOf(response) {
  let text = "";
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    text += bytes;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const [name, data] = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      if (data?.startsWith("data: ")) yield [name.slice("event: ".length), JSON.parse(data.slice("data: ".length))];
    }
  }
}

async function run(login) {
  const response = await fetch(`${COLLOQUY_URL}/agent/run`, {
    method: "POST",
    // Sent again after a lost connection, the same key is the same run.
    headers: { ...headers, ...login, "idempotency-key": crypto.randomUUID() },
    body: JSON.stringify({
      project_ref: project,
      sprint_ref: sprint,
      prompt: `${readFileSync(file, "utf8")}\n\nCreate user stories and tasks and add them to ${sprint}.`,
      dry_run: mode === "--dry-run",
      stream: true,
    }),
  });
  if (!response.ok) throw new Error((await response.json()).error.message);
  for await (const [name, data] of eventsOf(response)) {
    if (name === "call") console.log(`  ${data.tool} ${data.arguments}`);
    if (name === "result" && data.is_error) console.log(`  ! ${data.content}`);
    if (name === "error") throw new Error(data.message);
    if (name === "done") return data;
  }
  throw new Error("The stream ended too early.");
}

/** Asks at the terminal what the agent must know, until nothing is open. */
async function answerQuestions(answer) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  for (const { id, text, choices, decisions } of answer.questions) {
    const possible = choices ?? decisions;
    console.log(`\n${text}\n${possible.map((choice, index) => `  ${index + 1}. ${choice}`).join("\n")}`);
    const chosen = possible[Number(await terminal.question("? ")) - 1];
    const body = choices ? { decision: chosen ? "answer" : "decline", text: chosen } : { decision: chosen ?? "deny" };
    await ask(`/api/runs/${answer.run_id}/decisions/${id}`, { method: "POST", headers, body: JSON.stringify(body) });
  }
  terminal.close();
  for (;;) {
    const now = await ask(`/agent/run/${answer.run_id}`, { headers });
    if (now.stop_reason !== "running") return now;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

let answer = await run(await signIn());
while (answer.stop_reason === "waiting") answer = await answerQuestions(answer);
console.log(`\n${answer.summary}`);
for (const { action, type, ref, subject, url } of answer.artifacts)
  console.log(`${action} ${type} #${ref} ${subject}  ${url}`);
for (const warning of answer.warnings) console.log(`warning: ${warning}`);
process.exitCode = answer.stop_reason === "end" ? 0 : 1;
