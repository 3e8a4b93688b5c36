import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { isIP, type AddressInfo } from "node:net";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import { collect } from "../../test/model-servers/collect.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { letNothingOut } from "../../test/no-way-out.ts";
import { carriersOf, numberOf } from "../../test/special-addresses.ts";
import { configSchema } from "../config/schema.ts";
import type { ModelConfig } from "../models/config.ts";
import { findModels } from "../models/discovery/find-models.ts";
import { createModels } from "../models/registry.ts";
import { modelAddressesOf } from "./model-addresses.ts";

type AddressCase = {
  readonly mode?: "local" | "accounts";
  readonly modelHosts?: readonly string[] | undefined;
  /** What each name resolves to, one after the other; the last one stays. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
};

let served: ModelServer;
before(async () => void (served = await startModelServer()));
after(() => served.close());
let [asksBefore, looksBefore] = [0, 0];
beforeEach(() => void ([asksBefore, looksBefore] = [served.requests.length, served.asked.length]));
/** Requests that reached the server in this test, questions about itself too. */
const reached = () => served.requests.length - asksBefore + served.asked.length - looksBefore;

function addresses({ mode = "accounts", modelHosts, names = {} }: AddressCase) {
  const config = configSchema.parse({ auth: { mode }, definitions: { modelHosts } });
  const times = new Map<string, number>();
  const resolve = async (name: string) => {
    const listed = names[name] ?? assert.fail(`${name} is not known`);
    const time = times.get(name) ?? 0;
    times.set(name, time + 1);
    const address = listed[Math.min(time, listed.length - 1)]!;
    return [{ address, family: isIP(address) || 4 }];
  };
  return modelAddressesOf(config, { resolve });
}

const at = (baseUrl: string): ModelConfig => ({ id: "m", provider: "openai", model: "served", baseUrl, apiKey: "k" });
const ollamaAt = (baseUrl: string): ModelConfig => ({ id: "m", provider: "ollama", model: "served", baseUrl });

function modelsOf(context: TestContext, config: ModelConfig, wish: AddressCase, ofAdmins = ["m"]) {
  const models = createModels({ models: [config], ofAdmins, connect: addresses(wish).connect, retries: 0 });
  context.after(models.close);
  const ask = () =>
    collect(models.get("m").stream({ messages: [{ role: "user", content: "hi" }] }, new AbortController().signal));
  return { ...models, ask };
}

async function assertRefused(context: TestContext, config: ModelConfig, wish: AddressCase): Promise<string> {
  const { error } = await modelsOf(context, config, wish).ask();
  assert.deepEqual([error?.kind, error?.retryable], ["unreachable", false], `${JSON.stringify(config)}: ${error}`);
  assert.equal((error!.cause as { readonly code?: string }).code, "address_refused");
  return error!.message;
}

test("a model of an admin is asked only where it may be, by what its name resolves to", async (context) => {
  const names = { "models.test": ["127.0.0.1"] };
  for (const config of [at(`http://models.test:${served.port}/v1`), ollamaAt(`http://models.test:${served.port}`)]) {
    const message = await assertRefused(context, config, { names });
    assert.match(message, new RegExp(`add models\\.test:${served.port} to definitions\\.modelHosts \\(COLLOQUY_D`));
  }
  for (const host of ["127.0.0.1", "localhost", "[::1]", "2130706433", "[::ffff:127.0.0.1]"])
    await assertRefused(context, ollamaAt(`http://${host}:${served.port}`), { names: { localhost: ["127.0.0.1"] } });
  assert.equal(reached(), 0, "neither its size nor what it sees is asked about");
});

test("where a model of an admin may be is said by names, addresses and ranges with their port", async (context) => {
  const names = { "models.test": ["127.0.0.1"] };
  const { port } = served;
  const named = at(`http://models.test:${port}/v1`);
  for (const entry of [`models.test:${port}`, `*.test:${port}`, `127.0.0.1:${port}`, `127.0.0.0/8:${port}`, "*"]) {
    const { text, error } = await modelsOf(context, named, { names, modelHosts: [entry] }).ask();
    assert.equal(text, "ok", `${entry}: ${error}`);
  }
  assert.equal((await modelsOf(context, named, { names, mode: "local" }).ask()).text, "ok", "of the owner, anywhere");
  for (const entry of ["models.test", "models.test:1", "127.0.0.1", `127.0.0.2:${port}`, `0.0.0.0/1:${port + 1}`])
    await assertRefused(context, named, { names, modelHosts: [entry] });
  await assertRefused(context, named, { names, mode: "local", modelHosts: [] });
});

test("what the operator defines is asked wherever it is, and the same of an admin is another one", async (context) => {
  const config = at(`http://127.0.0.1:${served.port}/v1`);
  const { ask, update } = modelsOf(context, config, {}, []);
  assert.equal((await ask()).text, "ok");
  update([config], ["m"]);
  assert.equal((await ask()).error?.kind, "unreachable");
  update([config], []);
  assert.equal((await ask()).text, "ok");
});

test("each connection is looked up anew, and goes to the address that was checked", async (context) => {
  // Names change their minds: here 127.0.0.1 is what the name may be.
  const names = { "models.test": ["127.0.0.1", "127.0.0.2"] };
  const modelHosts = [`127.0.0.1:${served.port}`];
  // Nobody asks how much it holds, which would be a look of its own.
  const config = { ...at(`http://models.test:${served.port}/v1`), contextTokens: 8192 };
  const { ask } = modelsOf(context, config, { names, modelHosts });
  const [first, second] = await Promise.all([ask(), ask()]);
  assert.deepEqual([first.text, second.error?.kind], ["ok", "unreachable"]);
});

test("where clouds tell a machine its secrets is refused whatever is allowed", async (context) => {
  const tried = letNothingOut(context);
  const secrets = ["169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fe80::1%lo"];
  const carried = Object.values(carriersOf(numberOf("169.254.169.254")));
  for (const address of [...secrets, ...carried])
    for (const modelHosts of [["*"], ["meta.test", "169.254.0.0/16", "100.64.0.0/10", "fd00::/8"], undefined]) {
      const wish = { mode: "local", names: { "meta.test": [address] }, modelHosts } as const;
      await assertRefused(context, at("http://meta.test/v1"), wish);
      if (address.includes("%")) continue;
      await assertRefused(context, at(`http://${isIP(address) === 6 ? `[${address}]` : address}/v1`), wish);
    }
  assert.deepEqual([...tried], []);
});

test("a model on the public internet is asked there", async (context) => {
  const tried = letNothingOut(context);
  const { ask } = modelsOf(context, at("https://api.test/v1"), { names: { "api.test": ["93.184.216.34"] } });
  const { error } = await ask();
  assert.equal((error?.cause as { readonly code?: string }).code, "ERR_IP_BLOCKED");
  assert.deepEqual([...tried], ["93.184.216.34"]);
});

test("no redirect leads elsewhere, of an answer or of a question about the model", async (context) => {
  const paths: string[] = [];
  const elsewhere = createServer((request, response) => {
    paths.push(request.url!);
    response.writeHead(307, { location: `http://127.0.0.1:${served.port}${request.url}` }).end();
  }).listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  context.after(() => elsewhere.close());
  const { port } = elsewhere.address() as AddressInfo;
  for (const modelHosts of [[`127.0.0.1:${port}`], ["*"]]) {
    const { error } = await modelsOf(context, ollamaAt(`http://127.0.0.1:${port}`), { modelHosts }).ask();
    assert.match(error!.message, /redirect \(307\)/);
    const found = await findModels({ baseUrl: `http://127.0.0.1:${port}` }, addresses({ modelHosts }).connect);
    assert.match(found.tried[0]!.outcome, /sends elsewhere/);
  }
  assert.ok(paths.includes("/api/show") && paths.includes("/api/chat") && paths.includes("/api/tags"), paths.join());
  assert.equal(reached(), 0);
});

test("looking for models goes the same way, and says what allows it", async () => {
  const { connect } = addresses({ names: { "models.test": ["127.0.0.1"] } });
  for (const host of ["models.test", "127.0.0.1"]) {
    const { provider, tried } = await findModels({ baseUrl: `http://${host}:${served.port}` }, connect);
    assert.equal(provider, null);
    for (const { outcome } of tried) assert.match(outcome, new RegExp(`add ${host}:\\d+ to definitions\\.modelHosts`));
  }
  assert.equal(reached(), 0);
});

test("what is allowed at one port of a name is not at another, asked before or after", async (context) => {
  const other = await startModelServer();
  context.after(other.close);
  const names = { "models.test": ["127.0.0.1"] };
  const { connect } = addresses({ names, modelHosts: [`models.test:${served.port}`] });
  for (const port of [served.port, other.port, served.port]) {
    const { provider } = await findModels({ baseUrl: `http://models.test:${port}` }, connect);
    assert.equal(provider === null, port === other.port);
  }
  assert.deepEqual([other.requests.length, other.asked.length], [0, 0]);
});

test("what would not be asked is known before; what can't be found now may be later", async () => {
  const names = { "models.test": ["10.0.0.8"], "api.test": ["93.184.216.34"] };
  const { whyNotAsked } = addresses({ names, modelHosts: ["gpu.test:11434", "192.168.0.0/16:8080"] });
  assert.match((await whyNotAsked("http://models.test:11434"))!, /^models\.test is not on the public internet/);
  assert.match((await whyNotAsked("http://[fd00::8]:8080/v1"))!, /add \[fd00::8\]:8080 to/);
  assert.match((await whyNotAsked("http://10.0.0.8/v1"))!, /add 10\.0\.0\.8 to/);
  for (const address of ["https://api.test", "http://192.168.1.1:8080/v1", "http://nobody.test:1"])
    assert.equal(await whyNotAsked(address), undefined, address);
  const resolve = () => new Promise<never>(() => {});
  const slow = modelAddressesOf(configSchema.parse({ auth: { mode: "accounts" } }), { resolve, lookMs: 10 });
  assert.equal(await slow.whyNotAsked("http://slow.test"), undefined);
});
