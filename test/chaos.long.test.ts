import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";

test("a minute of chaos breaks no promise", { timeout: 300_000 }, async (t) => {
  const program = join(import.meta.dirname, "../chaos/run.ts");
  const chaos = spawn(process.execPath, [program, "--minutes", "1", "--nodes", "3", "--clients", "6"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => chaos.kill());
  let printed = "";
  for (const stream of [chaos.stdout, chaos.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [code] = (await once(chaos, "close")) as [number];
  assert.equal(code, 0, printed);
});
