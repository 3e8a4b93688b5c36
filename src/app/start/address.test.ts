import assert from "node:assert/strict";
import { test } from "node:test";
import { createAddress, portOf } from "./address.ts";

const server = { port: 8000, publicUrl: undefined, basePath: "/chat" } as Parameters<typeof createAddress>[0]["server"];

test("an address is the configured one until the server listens, and then what it is", async () => {
  const address = createAddress({ server });
  const { port, url, base } = address;
  assert.deepEqual([port(), url(), base()], [8000, undefined, "http://localhost:8000/chat"]);
  let listens = false;
  const waiting = address.listening.then(() => (listens = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(listens, false);
  address.set("http://127.0.0.1:54321");
  await waiting;
  assert.deepEqual([port(), url(), base()], [54321, "http://127.0.0.1:54321", "http://localhost:54321/chat"]);
});

test("browsers find it where it is said to be", () => {
  const address = createAddress({ server: { ...server, publicUrl: "https://chat.example" } });
  address.set("http://127.0.0.1:54321");
  assert.equal(address.base(), "https://chat.example/chat");
});

test("a URL that names no port has its protocol's", () => {
  assert.equal(portOf(new URL("http://localhost/v1")), 80);
  assert.equal(portOf(new URL("https://localhost/v1")), 443);
  assert.equal(portOf(new URL("http://localhost:8000/v1")), 8000);
});
