import assert from "node:assert/strict";
import { test } from "node:test";
import { connectRaw, headOf } from "../../../test/raw-http.ts";
import { serve, servicesWith } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";

test("slow bodies: half a body and half of the headers are refused after 30 s", async (context) => {
  const server = await serve(servicesWith({ models: createModels({ models: [], adapters: {} }) }));
  context.after(server.close);
  const since = performance.now();
  const body = await connectRaw(server.url);
  body.send(headOf(server.url, "/api/threads", { "content-type": "application/json", "content-length": 100 }) + "{");
  const headers = await connectRaw(server.url);
  headers.send("POST /api/threads HTTP/1.1\r\n");
  for (const { answer } of [body, headers]) {
    assert.match(await answer, /^HTTP\/1.1 408 /);
    const seconds = (performance.now() - since) / 1000;
    assert.ok(seconds > 29 && seconds < 45, `${seconds} s`);
  }
});
