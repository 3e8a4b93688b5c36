import { exampleOf, type Schema } from "../test/fuzz/api-document.ts";

export type Bounds = {
  readonly bytes: number;
  readonly keys: number;
  readonly elements: number;
  readonly depth: number;
  readonly listed: number;
};
export type WorstBody = { readonly kind: string; readonly body: Buffer };

type Path = readonly string[];
const place = "@@here@@";

/** For each way in which a body can be dear the dearest that the route takes, most of them with a fault at their end. */
export function* worstBodies(schema: Schema, bounds: Bounds): Generator<WorstBody> {
  const texts = placesOf(schema, "string").slice(0, 3);
  const lists = placesOf(schema, "array").slice(0, 3);
  const at = (path: Path, json: string) => withValue(schema, path, json);
  const room = bounds.bytes - 2000;
  for (const path of texts.length > 0 ? texts : [["more"]]) {
    yield at(path, `"${"\\n".repeat(Math.floor(room / 2))}"`)(`text in ${path.join(".")}`);
    yield at(path, `"${'\\"'.repeat(Math.floor(room / 2))}"`)(`quotes in ${path.join(".")}`);
    yield at(path, `"${"é€".repeat(Math.floor(room / 5))}"`)(`wide text in ${path.join(".")}`);
  }
  const rows = Math.min(bounds.listed, bounds.elements) - 2;
  const elements = bounds.elements - 10;
  const within = ["more"];
  const each = Math.max(4, Math.floor(room / elements) - 3);
  yield at(
    within,
    `[${Array(elements).fill(`0.${"123456789".repeat(each).slice(0, Math.min(each, 990))}`)}]`,
  )("numbers");
  yield at(within, `[${Array(elements).fill(`"${"\\n".repeat(each >> 1)}"`)}]`)("short texts");
  const keys = bounds.keys - 50;
  const long = Math.max(0, Math.floor(room / keys) - 16);
  const entries = Array.from({ length: keys }, (_, index) => `"k${index}":1`);
  yield at(within, `{${entries}}`)("keys");
  yield { kind: "keys of the body", body: Buffer.from(`{${entries}}`) };
  yield at(within, `{${entries.map((entry) => entry.replace('":', `${"x".repeat(long)}":`))}}`)("long keys");
  yield at(within, `[${entries.slice(0, elements).map((entry) => `{${entry}}`)}]`)("shapes");
  const deep = bounds.depth - 5;
  yield at(within, `[${Array(Math.floor(rows / deep)).fill("[".repeat(deep) + "]".repeat(deep))}]`)("deep");
  for (const path of lists)
    for (const [name, one] of [
      ["{}", "{}"],
      ["numbers", "1"],
      ["right ones", JSON.stringify(exampleOf(itemsAt(schema, path)))],
    ] as const) {
      const count = Math.min(
        path.length === 1 ? rows : elements,
        Math.floor(keys / Math.max(1, one.split(":").length)),
      );
      yield at(path, `[${Array(count).fill(one)}]`)(`${count} ${name} in ${path.join(".")}`);
    }
}

/** The body that fits, with this JSON in one place. */
function withValue(schema: Schema, path: Path, json: string): (kind: string) => WorstBody {
  const body = exampleOf(schema);
  let inner = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const whole = inner;
  for (const name of path.slice(0, -1)) inner = (inner[name] ??= {}) as Record<string, unknown>;
  inner[path.at(-1)!] = place;
  const text = JSON.stringify(whole);
  return (kind) => ({ kind, body: Buffer.from(text.replace(`"${place}"`, () => json)) });
}

function variants(schema: Schema): Schema[] {
  return [schema, ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(variants)];
}

/** Where in the body a value of this type may stand. */
function placesOf(schema: Schema, type: string, before: Path = []): Path[] {
  return variants(schema).flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, inner]) => {
      const path = [...before, name];
      const fits = variants(inner).some(
        (one) => one.type === type && one.enum === undefined && one.format === undefined,
      );
      return [...(fits ? [path] : []), ...(before.length < 2 ? placesOf(inner, type, path) : [])];
    }),
  );
}

function itemsAt(schema: Schema, path: Path): Schema | undefined {
  let nodes = variants(schema);
  for (const name of path) nodes = nodes.flatMap(({ properties }) => variants(properties?.[name] ?? {}));
  return nodes.find(({ items }) => items)?.items;
}
