import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { allRoutes } from "../src/http/all-routes.ts";
import { createModels } from "../src/models/registry.ts";
import { serveTools } from "./serve-tools.ts";
import { serve, servicesWith, type Serving } from "./serve.ts";

type Content = Readonly<Record<string, { readonly schema?: { readonly example?: unknown } }>>;
type Operation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
};
type ApiDocument = {
  readonly tags: readonly { readonly name: string }[];
  readonly security: Operation["security"];
  readonly components: { readonly securitySchemes: Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

let server: Serving;
let document: ApiDocument;
before(async () => {
  server = await serve(servicesWith({ models: createModels({ models: [] }) }));
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as ApiDocument;
});
after(() => server.close());

/** `GET /path: fault`, of all operations. */
function faultsOf(faults: (operation: Operation, path: string, method: string) => readonly string[]): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      faults(operation, path, method).map((fault) => `${method.toUpperCase()} ${path}: ${fault}`),
    ),
  );
}

test("the document is valid OpenAPI 3.1", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  assert.equal(valid, true, JSON.stringify(errors)?.slice(0, 2000));
});

test("so is that of a server of tools", async () => {
  const tools = await serveTools([]);
  const described = (await (await fetch(`${tools.url}/openapi.json`)).json()) as ApiDocument;
  const { valid, errors } = await new Validator().validate(structuredClone(described));
  assert.equal(valid, true, JSON.stringify(errors)?.slice(0, 2000));
  assert.deepEqual(Object.keys(described.paths).sort(), [
    "/api/tools/calls/{key}",
    "/api/tools/list",
    "/api/tools/{name}",
    "/api/tools/{name}/calls",
    "/health",
    "/openapi.json",
  ]);
  await tools.stop(0);
});

test("examples are what they are examples of", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const look = (value: unknown, path: string): string[] => {
    if (typeof value !== "object" || value === null) return [];
    const { example, examples, ...schema } = value as { readonly example?: unknown; readonly examples?: unknown };
    const shown = [...(Array.isArray(examples) ? examples : []), ...(example === undefined ? [] : [example])];
    const wrong = shown.filter((one) => !ajv.validate(schema, one)).map(() => path);
    return [...wrong, ...Object.entries(schema).flatMap(([name, inner]) => look(inner, `${path}/${name}`))];
  };
  assert.deepEqual(look(document.paths, ""), []);
});

test("every route stands in it, and nothing else", () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  assert.equal(operations.length, allRoutes.length);
});

test("every operation has a name of its own, a summary and a tag that is explained", () => {
  const tags = new Set(document.tags.map(({ name }) => name));
  const ids = new Set<string>();
  const faults = faultsOf(({ operationId = "", summary = "", tags: own = [] }) => {
    const isTaken = ids.has(operationId);
    ids.add(operationId);
    return [
      ...(/^[a-z][A-Za-z0-9_]*$/.test(operationId) ? [] : [`operationId ${JSON.stringify(operationId)}`]),
      ...(isTaken ? [`operationId ${operationId} is taken`] : []),
      ...(summary === "" || summary.endsWith(".") ? [`summary ${JSON.stringify(summary)}`] : []),
      ...(own.length === 1 && tags.has(own[0]!) ? [] : [`tags ${own.join(", ")}`]),
    ];
  });
  assert.deepEqual(faults, []);
});

test("every parameter of a path is described and needed", () => {
  const faults = faultsOf(({ parameters = [] }, path) => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    return named.filter((name) => !parameters.some((one) => one.in === "path" && one.name === name && one.required));
  });
  assert.deepEqual(faults, []);
});

test("who may ask is said: open routes say so, all others name a login that there is", () => {
  const schemes = Object.keys(document.components.securitySchemes);
  const named = [
    document.security ?? [],
    ...Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ security }) => security ?? []),
    ),
  ].flat();
  assert.ok(named.flatMap((one) => Object.keys(one)).every((scheme) => schemes.includes(scheme)));
  const open = new Set<string>(
    allRoutes.flatMap(([method, path, { open }]) =>
      open ? [`${String(method)} ${path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}")}`] : [],
    ),
  );
  const faults = faultsOf(({ security }, path, method) => {
    const isSaidOpen =
      security !== undefined && (security.length === 0 || security.some((one) => Object.keys(one).length === 0));
    return isSaidOpen === open.has(`${method.toUpperCase()} ${path}`) ? [] : [`open is ${isSaidOpen}`];
  });
  assert.deepEqual(faults, []);
});

test("every answer is described, those of failures too", () => {
  const faults = faultsOf(({ responses = {} }) => {
    const statuses = Object.keys(responses);
    const bare = statuses.filter(
      (status) => !responses[status]?.description || responses[status].description === "Default Response",
    );
    const missing = ["4XX", "5XX"].filter((status) => !responses[status]?.content?.["application/json"]?.schema);
    return [...bare.map((status) => `${status} without a description`), ...missing.map((status) => `no ${status}`)];
  });
  assert.deepEqual(faults, []);
});
