import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { z } from "zod";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Effect, ToolContext } from "../../protocol/agents/tools.ts";
import { executeTool } from "./call-tool.ts";
import { defineTool } from "./define-tool.ts";

/** What the server does to the next requests; then it answers. */
let faults: (number | "reset" | { readonly retryAfter: string })[] = [];
let asked = 0;
const server = createServer((_, response) => {
  asked++;
  const fault = faults.shift();
  if (fault === "reset") return void response.destroy();
  if (typeof fault === "object") return void response.writeHead(429, { "retry-after": fault.retryAfter }).end();
  response.writeHead(fault ?? 200).end("here");
});
before(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
after(() => void server.close());

const context = { signal: new AbortController().signal } as ToolContext;

async function called(effect: Effect, more: { readonly retry?: false } = {}) {
  asked = 0;
  const tool = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    effect,
    ...more,
    async execute() {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const retryAfterSeconds = Number(answer.headers.get("retry-after") ?? 0);
      if (!answer.ok)
        throw new ColloquyError("away", answer.status, `It answered ${answer.status}.`, { retryAfterSeconds });
      return answer.text();
    },
  });
  const { content, isError = false } = await executeTool(tool, {}, context);
  return { content, isError, asked };
}

test("a read is tried again over a cut, a 5xx and a 429", async () => {
  for (const fault of ["reset", 503, 502, { retryAfter: "0" }] as const) {
    faults = [fault];
    assert.deepEqual(await called("read"), { content: "here", isError: false, asked: 2 });
  }
});

test("few times, not past a Retry-After that is far, and not over what no try mends", async () => {
  faults = [503, 503, 503, 503];
  assert.deepEqual(await called("read"), { content: "It answered 503.", isError: true, asked: 3 });
  faults = [{ retryAfter: "3600" }];
  assert.equal((await called("read")).asked, 1);
  faults = [404];
  assert.equal((await called("read")).asked, 1);
});

test("never a write, and not a tool that says so", async () => {
  faults = [503];
  assert.equal((await called("write")).asked, 1);
  faults = [503];
  assert.equal((await called("read", { retry: false })).asked, 1);
  faults = [];
});
