import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { trackRequests, withoutTracking } from "./track-requests.ts";

test("a request counts for the work that sent it, also after other work has ended; then nobody listens", async () => {
  const server = createServer((_request, response) => response.end("ok")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = async () => void (await (await fetch(url, { method: "POST" })).text());
  const isHeard = () => channel("undici:client:sendHeaders").hasSubscribers;
  const before = isHeard();
  const [reads, asks, writes] = [{ hasSent: false }, { hasSent: false }, { hasSent: false }];
  const { promise: first, resolve: end } = Promise.withResolvers<void>();
  const late = trackRequests(writes, async () => {
    await first;
    await post();
  });
  await trackRequests(reads, async () => void (await (await fetch(url)).text()));
  await trackRequests(asks, () => withoutTracking(post));
  assert.ok(isHeard());
  end();
  await late;
  assert.deepEqual([reads.hasSent, asks.hasSent, writes.hasSent], [false, false, true]);
  assert.equal(isHeard(), before);
  server.close();
});
