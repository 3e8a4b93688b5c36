import { request } from "undici";
import { type Bench, type Part, type Server, withOwned } from "../part.ts";
import { startProduct } from "../product.ts";
import type { Row } from "../rows.ts";
import type { Operation } from "../../test/fuzz/api-document.ts";
import { type Bounds, worstBodies } from "../worst-bodies.ts";

type BoundedOperation = Operation & { readonly "x-body-bounds"?: Bounds };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, BoundedOperation>>>> };

type Measured = { readonly name: string; readonly stallMs: number; readonly parseMs: number };

/** A shorter stall is of the request itself, or of a collection of garbage, and its ratio says nothing. */
const leastStallMs = 20;
/** What an answer does after it has begun is another matter. */
const answerMs = 3000;

async function measure(server: Server, sending: { method: string; path: string; body: Buffer }): Promise<number> {
  const { method, path, body } = sending;
  await server.child.call("watchTurns");
  const answer = await request(`http://127.0.0.1:${server.port}${path}`, {
    method: method.toUpperCase() as "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  // 501 tells what a dialect of another has and we don't, such as Ollama's way to fetch a model: an answer, not a fault.
  if (answer.statusCode >= 500 && answer.statusCode !== 501)
    throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  const late = setTimeout(() => answer.body.destroy(), answerMs);
  await answer.body.dump({ limit: Infinity }).catch(() => {});
  clearTimeout(late);
  return server.child.call<number>("longestTurn");
}

/** Of the rounds the least, since what others do on the machine, and collections of garbage, only add. */
async function measureRoute(
  bench: Bench,
  server: Server,
  route: { method: string; path: string; operation: BoundedOperation },
) {
  const { method, path, operation } = route;
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const bounds = operation["x-body-bounds"];
  const measured: Measured[] = [];
  if (!schema || !bounds) return measured;
  for (const { kind, body } of worstBodies(schema, bounds)) {
    let [stallMs, parseMs] = [Infinity, Infinity];
    for (let round = 0; round < Math.min(3, bench.rounds); round++) {
      stallMs = Math.min(stallMs, await measure(server, { method, path, body }));
      parseMs = Math.min(parseMs, await server.child.call<number>("parse", body));
      // Nothing to look at twice.
      if (stallMs < leastStallMs) break;
    }
    measured.push({ name: `${method.toUpperCase()} ${path}, ${kind}`, stallMs, parseMs });
    // One of each route shows that they are made and answered.
    if (bench.quick) break;
  }
  return measured;
}

/** No request stops the others: the worst body that each route allows, made from the document, so that a new one is measured too. */
export const bodies: Part = {
  name: "bodies",
  run: (bench) =>
    withOwned(async (own): Promise<Row[]> => {
      const server = own(await startProduct({ modelUrl: bench.modelUrl, scripts: [] }));
      const document = (await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).json()) as Document;
      const thread = (await (
        await fetch(`http://127.0.0.1:${server.port}/api/threads`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: "{}",
        })
      ).json()) as { readonly id: string };
      const measured: Measured[] = [];
      for (const [path, operations] of Object.entries(document.paths))
        for (const [method, operation] of Object.entries(operations)) {
          const filled = path.replaceAll(/\{\w+\}/g, thread.id);
          measured.push(...(await measureRoute(bench, server, { method, path: filled, operation })));
        }
      measured.sort((a, b) => b.stallMs - a.stallMs);
      const text = ({ name, stallMs, parseMs }: Measured) =>
        `${stallMs.toFixed(1)} ms, JSON.parse ${parseMs.toFixed(1)} ms: ${name}`;
      for (const one of measured.slice(0, 15)) bench.log(`bodies: ${text(one)}`);
      const ratio = ({ stallMs, parseMs }: Measured) => stallMs / parseMs;
      const [longest] = measured;
      const [dearest] = measured.filter(({ stallMs }) => stallMs >= leastStallMs).sort((a, b) => ratio(b) - ratio(a));
      if (!longest) throw new Error("No route takes a body.");
      const one = dearest ?? longest;
      return [
        {
          part: "bodies",
          name: `longest stall by any of ${measured.length} worst bodies`,
          unit: "ms",
          values: [longest.stallMs],
          bar: { kind: "value", max: 50 },
          note: longest.name,
        },
        {
          part: "bodies",
          name: "the stall that is longest against JSON.parse of the same bytes",
          unit: "ms",
          values: [one.stallMs],
          reference: [one.parseMs],
          bar: { kind: "ratio", max: 1.5 },
          note: one.name,
        },
      ];
    }),
};
