import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { skipBrowser } from "../test/browser.ts";

/** The bench counts every token, tool call and sum of what it measures; the times of a quick run mean nothing. */
test("every part of the bench finds the answers right", { timeout: 600_000 }, async () => {
  const bench = spawn(process.execPath, [fileURLToPath(new URL("run.ts", import.meta.url)), "--quick"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [bench.stdout, bench.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [code] = (await once(bench, "close")) as [number];
  assert.equal(code, 0, printed);
  if (!skipBrowser) assert.match(printed, /a key press until it is painted/);
});
