import { setTimeout as sleep } from "node:timers/promises";
import { silentLog } from "../../src/protocol/base/log.ts";
import { mcpServerSchema, type OAuthConfig } from "../../src/protocol/agents/mcp-servers.ts";
import type { McpCredentials } from "../../src/store/secrets/mcp-credentials.ts";
import { callerOf } from "../../src/protocol/base/callers.ts";
import type { Tool, ToolAnswer } from "../../src/protocol/agents/tools.ts";
import { createMcpServers } from "../../src/tools/mcp/mcp-servers.ts";
import { createSignIns } from "../../src/tools/mcp/sign-in/sign-ins.ts";
import { testContext } from "../mcp-servers.ts";

/**
 * What the suites run as a client: our own connections, with a login where the scenario is about that. It lists the tools
 * and calls each of them with arguments made from its schema.
 */
const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const given = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
};
const base = "https://colloquy.example";

const caller = callerOf({ id: "u1", name: "ada", role: "admin", permissions: ["*"] }, "api-key");
/** Of one user at one server, for as long as the suite runs this; a database would take longer than all the rest. */
let login: string | undefined;
let begun: string | undefined;
const credentials: McpCredentials = {
  login: async () => login,
  saveLogin: async (_, text) => void (login = text),
  takeForRenewal: async () => (login === undefined ? undefined : { text: login, sealed: login }),
  endRenewal: async (_, before, renewed) => void (login = renewed === "unchanged" ? before : (renewed ?? undefined)),
  saveSignIn: async (_, text) => void (begun = text),
  async takeSignIn() {
    const taken = begun;
    begun = undefined;
    return taken;
  },
  forget: async () => void (login = undefined),
};
const signIns = createSignIns({
  credentials,
  secret: "a secret of tests",
  base: () => base,
  // The suites' servers are on ports that nobody knows before.
  fetch: (address, init) => fetch(address, init as RequestInit),
});
const auth: OAuthConfig = {
  type: "oauth",
  ...(given.client_id === undefined ? {} : { clientId: given.client_id }),
  ...(given.client_secret === undefined ? {} : { clientSecret: given.client_secret }),
};
const needsLogin = scenario.startsWith("auth/");
const config = mcpServerSchema.parse({ url, ...(needsLogin ? { auth } : {}) });
const named = { name: "suite", config };
const off = { disabled: true };
const servers = createMcpServers({
  servers: { mcp_filesystem: off, mcp_trader: off, suite: config },
  version: "1.0.0",
  environment: {},
  log: silentLog,
  credentialsFor: signIns.credentialsFor,
});

/** As a person with a browser would; the suites' servers agree at once. */
async function signIn(): Promise<void> {
  const address = await signIns.begin(named, caller.userId);
  const there = await fetch(address, { redirect: "manual" });
  const back = new URL(there.headers.get("location") ?? "", address).searchParams;
  const [code, iss] = [back.get("code") ?? undefined, back.get("iss") ?? undefined];
  await signIns.finish({ state: back.get("state") ?? "", code, iss }, () => named);
  await servers.renew("suite", caller.userId);
}

function argumentsFor(schema: unknown): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, { readonly type?: string; readonly default?: unknown }>>;
    readonly required?: readonly string[];
  };
  const examples: Readonly<Record<string, unknown>> = { number: 5, integer: 3, boolean: true, string: "text" };
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name, { type = "" }]) => required.includes(name) || type in examples)
      .map(([name, { type = "", default: usual }]) => [name, usual ?? examples[type] ?? null]),
  );
}

/** A form as a person fills it in who leaves alone what has a value already. */
function filled(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> };
  return Object.fromEntries(
    Object.entries(argumentsFor(schema)).filter(([name]) => !("default" in (properties[name] ?? {}))),
  );
}

/** No suite waits for long: neither does this. */
async function settled(): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(20)) {
    const states = await servers.statesFor(caller, AbortSignal.timeout(1000));
    const state = states.find(({ name }) => name === "suite");
    if (state && !["idle", "connecting"].includes(state.state))
      return void process.stderr.write(`${JSON.stringify(state)}\n`);
  }
}

/** As the scenario says, or made from the schema. */
function inputsFor({ name, parameters }: Tool): readonly Readonly<Record<string, unknown>>[] {
  const told = given.toolCalls?.filter((each) => `suite_${each.name}` === name);
  if (told && told.length > 0) return told.map((each) => each.arguments);
  return [argumentsFor(parameters)];
}

async function call(tool: Tool, input: unknown): Promise<string> {
  const answers: ToolAnswer[] = [];
  let result = await tool.execute(input, { ...testContext, caller });
  while (result.ask && answers.length < 3) {
    answers.push({ decision: "answer", data: filled(result.ask.schema), state: result.ask.state });
    result = await tool.execute(input, { ...testContext, caller, answers });
  }
  process.stderr.write(`${tool.name}: ${result.content}\n`);
  return result.content;
}

const source = servers.sources.find(({ name }) => name === "suite");
const maxSignIns = 3;
for (let signedIn = 0; ; signedIn++) {
  await settled();
  let isDenied = false;
  for (const tool of source?.tools(caller) ?? []) {
    if (tool.name === "suite_sign_in") isDenied = true;
    else for (const input of inputsFor(tool)) isDenied ||= /must sign in/.test(await call(tool, input));
  }
  if (!isDenied || signedIn === maxSignIns) break;
  await signIn();
}
await servers.close();
