import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const lyingServer = join(import.meta.dirname, "lying-server.ts");
const watch = join(import.meta.dirname, "watch-answers.ts");

test("answers that are not what the document says end the process with a failure that names them", async () => {
  const { COLLOQUY_TEST_ANSWERS_FILE: _mine, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const flags = ["--disable-warning=ExperimentalWarning", "--import", watch, lyingServer];
  const { code, told } = await new Promise<{ code: unknown; told: string }>((resolve) =>
    execFile(process.execPath, flags, { env }, (error, _stdout, stderr) =>
      resolve({ code: error?.code ?? 0, told: stderr }),
    ),
  );
  assert.equal(code, 1);
  const first = new Map<string, string>();
  for (const line of told.split("\n").filter((line) => line.startsWith("GET "))) {
    const [route = ""] = line.split(" answered");
    if (!first.has(route)) first.set(route, line.replace(/, but is .*/, ""));
  }
  assert.deepEqual(
    [...first.values()],
    [
      `GET /api/more answered 200, but the value must NOT have additional properties {"additionalProperty":"secret"}`,
      `GET /api/type answered 200, but the body is text/plain; described are application/json`,
      "GET /api/status answered 218, but there is a body, and none is described",
      "GET /api/raw answered 200, but the body is not JSON",
      `GET /api/stream answered 200, but event : /data must be number {"type":"number"}`,
      "GET /api/undeclared answered 304, but the status 304 is not described",
    ],
    told,
  );
});
