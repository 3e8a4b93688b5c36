import assert from "node:assert/strict";
import { test } from "node:test";
import fastify from "fastify";
import { tellLeftOut } from "./left-out.ts";

test("what is left out is named in a header, whatever a client calls it", async () => {
  const app = fastify();
  app.get("/", (_request, reply) => {
    tellLeftOut(reply, []);
    tellLeftOut(reply, ["text.verbosity", "mcp:wiki\r\nx: y", "名前"]);
    tellLeftOut(
      reply,
      Array.from({ length: 50 }, (_, at) => `f${at}${"x".repeat(200)}`),
    );
    return "";
  });
  const { statusCode, headers } = await app.inject("/");
  const names = String(headers["x-colloquy-left-out"]).split(", ");
  assert.deepEqual([statusCode, names.slice(0, 2), names.length], [200, ["text.verbosity", "mcp:wikix: y"], 22]);
  assert.ok(names.every(({ length }) => length <= 64));
});
