import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { serveAgents } from "../../test/serve-agents.ts";
import { createClient } from "../client/client.ts";
import { textOf } from "../protocol/threads/items.ts";
import { findPlace } from "./chat-place.ts";
import { talkInLines } from "./start-chat.ts";

const server = await serveAgents(() => "Hello.");
after(() => server.close());

test("a message that arrived, though the line broke before anybody said so, is said once", async (t) => {
  let broken = 0;
  const gateway = createServer((request, response) => {
    void (async () => {
      const { authorization: _none, host: _host, connection: _kept, ...headers } = request.headers;
      const body = request.method === "POST" ? { body: await text(request) } : {};
      const answer = await fetch(`${server.url}${request.url}`, {
        method: request.method!,
        headers: headers as Record<string, string>,
        ...body,
      });
      if (request.method === "POST" && /\/(threads|runs)$/.test(request.url!) && broken < 3 && broken++ !== 1)
        return response.destroy();
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      if (answer.body)
        Readable.fromWeb(answer.body)
          .on("error", () => {})
          .pipe(response);
      else response.end();
    })().catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  t.after(() => {
    gateway.closeAllConnections();
    gateway.close();
  });
  await once(gateway, "listening");
  const client = createClient({ url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` });
  const place = (await findPlace(client, "@assistant"))!;
  const output = new PassThrough();
  const written = text(output);
  const code = await talkInLines(
    client,
    { place, version: "0.0.1", json: false },
    { input: Readable.from(["hi\n"]), output },
  );
  output.end();
  assert.match(await written, /sent when the server is back: hi\n[^]*\[@user\]: hi\n\n\[@assistant\]: Hello\.\n/);
  assert.deepEqual([code, broken], [0, 3]);
  const items = await createClient({ url: server.url }).items(place.thread()!);
  const said = items.flatMap((item) => (item.kind === "message" ? [textOf(item.body.content)] : []));
  assert.deepEqual(said, ["hi", "Hello."]);
  assert.equal((await createClient({ url: server.url }).threads()).length, 1);
});
