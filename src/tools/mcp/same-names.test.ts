import assert from "node:assert/strict";
import { test } from "node:test";
import { startRaw, testServers } from "../../../test/mcp-servers.ts";
import { createToolRegistry } from "../core/registry.ts";
import { findingOf } from "./mcp-servers.ts";

test("of two servers' tools with one name the first one's is offered, and the other server says so", async (context) => {
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  const raws = [
    await startRaw([tool("read"), tool("write")], () => undefined),
    await startRaw([tool("read")], () => undefined),
  ];
  const mcp = testServers({ one: { url: raws[0]!.url, prefix: "" }, two: { url: raws[1]!.url, prefix: "" } });
  context.after(() => Promise.all([mcp.close(), ...raws.map((raw) => raw.close())]));
  await Promise.all([mcp.until("one", "ready"), mcp.until("two", "ready")]);
  const registry = createToolRegistry([], mcp.sources);
  assert.equal(registry.get("read")?.source, "mcp:one");
  const [one, two] = ["one", "two"].map((name) => mcp.states().find((state) => state.name === name)!);
  assert.deepEqual([one!.tools, one!.unusable], [2, []]);
  assert.deepEqual([two!.tools, two!.tokens, two!.unusable.map(({ tool }) => tool)], [0, 0, ["read"]]);
  const finding = findingOf(two!);
  assert.equal(finding.grade, "note");
  assert.match(
    finding.text,
    /not usable: read \(one has a tool of this name and comes first; give one of them a prefix\)$/,
  );
  await mcp.update({ one: { url: raws[0]!.url, prefix: "" }, two: { url: raws[1]!.url } });
  await mcp.until("two", "ready");
  assert.equal(registry.get("two_read")?.source, "mcp:two");
  assert.deepEqual(
    mcp.states().flatMap(({ unusable }) => unusable),
    [],
  );
});
