import assert from "node:assert/strict";
import { request } from "node:http";
import { json } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";

let server: Serving;
let port: string;
before(async () => {
  server = await serve(servicesWith({ models: createModels({ models: [] }) }));
  ({ port } = new URL(server.url));
});
after(() => server.close());

type OriginResponse = {
  readonly status: number | undefined;
  readonly body: { readonly error: { readonly message: string } };
};

/** As a client asks that names the server so; `fetch` would name it as it is. */
function ask(host: string, headers: Readonly<Record<string, string>> = {}): Promise<OriginResponse> {
  return new Promise((resolve, reject) => {
    request(`${server.url}/health`, { headers: { ...headers, host } })
      .on("error", reject)
      .on("response", (response) => {
        json(response).then(
          (body) => resolve({ status: response.statusCode, body: body as OriginResponse["body"] }),
          reject,
        );
      })
      .end();
  });
}

test("a client of this machine that leaves the port out is answered, as one that names it", async () => {
  for (const host of ["127.0.0.1", "localhost", "[::1]", "LOCALHOST", `127.0.0.1:${port}`, `localhost:${port}`])
    assert.equal((await ask(host)).status, 200, host);
});

test("a page that is asked for at another port is not: something else leads it here, which must be listed", async () => {
  const asked = [
    ["localhost:1", {}],
    ["127.0.0.1:80", {}],
    ["127.0.0.1", { origin: "http://127.0.0.1" }],
    ["localhost", { "sec-fetch-site": "same-origin" }],
  ] as const;
  for (const [host, headers] of asked) {
    const { status, body } = await ask(host, headers);
    assert.equal(status, 403, host);
    assert.equal(
      body.error.message,
      `This server listens on port ${port}, and was asked for as ${JSON.stringify(host)}. ` +
        "If a tunnel or a proxy leads here by that name, list it in server.hosts.",
    );
  }
  const named = await ask("colloquy.lan");
  assert.equal(named.status, 403);
  assert.match(
    named.body.error.message,
    /answers to localhost only, not to "colloquy\.lan"; list other names in server\.hosts/,
  );
});
