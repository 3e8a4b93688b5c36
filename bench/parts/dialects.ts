import { type Bench, inRounds, type Part, type Server, withOwned } from "../part.ts";
import type { Usage } from "../probe.ts";
import { startProduct } from "../product.ts";
import { askModel, type Request } from "../requests.ts";
import type { Row } from "../rows.ts";
import { formatScript, type Script } from "../script.ts";
import type { LoadInput, LoadResult } from "../sse-load.ts";

const burst: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const streams = 64;
const warmRounds = 3;

type Ask = (server: Server) => Request;

/** The same answer of the same model, in each protocol that streams it. The first is what the others are compared with. */
const dialects = {
  "chat completions": (server) => askModel(server, burst),
  messages: (server) => ({
    ...askModel(server, burst),
    path: "/v1/messages",
    body: {
      model: formatScript(burst),
      max_tokens: 1000,
      messages: [{ role: "user", content: "Add the numbers, then tell me the result." }],
      stream: true,
    },
  }),
  responses: (server) => ({
    ...askModel(server, burst),
    path: "/v1/responses",
    // In the pieces, and whole in the last event of its text, its part, its item and the response.
    tokens: 5 * burst.tokens,
    body: {
      model: formatScript(burst),
      store: false,
      input: "Add the numbers, then tell me the result.",
      stream: true,
    },
  }),
  ollama: (server) => ({
    ...askModel(server, burst),
    path: "/api/chat",
    body: {
      model: formatScript(burst),
      messages: [{ role: "user", content: "Add the numbers, then tell me the result." }],
    },
  }),
  completions: (server) => ({
    ...askModel(server, burst),
    path: "/v1/completions",
    body: { model: formatScript(burst), prompt: "Add the numbers, then tell me the result.", stream: true },
  }),
} as const satisfies Readonly<Record<string, Ask>>;
type Dialect = keyof typeof dialects;
const names = Object.keys(dialects) as Dialect[];

async function cpuPerStream(bench: Bench, server: Server, dialect: Dialect): Promise<number> {
  const before = await server.child.call<Usage>("usage");
  const input: LoadInput = { ...dialects[dialect](server), streams, milliseconds: bench.quick ? 100 : 1000 };
  const { done } = await bench.load.call<LoadResult>("load", input);
  const after = await server.child.call<Usage>("usage");
  return (after.cpuMs - before.cpuMs) / done;
}

async function measure(bench: Bench, server: Server): Promise<Row[]> {
  // Until its code is compiled, each round costs less than the one before.
  for (let round = 0; round < (bench.quick ? 1 : warmRounds); round++)
    for (const name of names) await cpuPerStream(bench, server, name);
  const values = await inRounds(bench.rounds, names, (name) => cpuPerStream(bench, server, name));
  const [reference, ...others] = names;
  return others.map((name) => ({
    part: "dialects",
    name: `CPU per stream, 200 tokens in a burst, 64 streams, ${name}`,
    unit: "ms",
    values: values[name],
    reference: values[reference!],
    bar: { kind: "ratio", max: 1.25 },
  }));
}

/** A model asked through the server in each protocol, against Chat Completions. */
export const dialectCosts: Part = {
  name: "dialects",
  run: (bench) =>
    withOwned(async (own) => {
      bench.log("dialects: CPU per stream");
      const { modelUrl } = bench;
      return measure(bench, own(await startProduct({ modelUrl, scripts: [burst] })));
    }),
};
