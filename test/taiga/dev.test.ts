import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { skipCurl } from "../left-out.ts";

const server = spawn(
  process.execPath,
  ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "dev.ts"), "--port", "0"],
  { stdio: ["ignore", "pipe", "inherit"] },
);
after(() => void server.kill("SIGKILL"));

test("it prints examples that work, and ends when it is told to", { skip: skipCurl }, async () => {
  const statuses: Record<string, number> = {};
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("Ctrl-C")) break;
    if (!line.startsWith("curl ")) continue;
    const { stdout } = await promisify(execFile)("sh", ["-c", `${line} -s -o /dev/null -w '%{http_code}'`]);
    statuses[line.split("/api/v1/")[1]!.split(/['? ]/)[0]!] = Number(stdout.trim());
  }
  assert.deepEqual(statuses, {
    auth: 200,
    "auth/refresh": 200,
    "projects/by_slug": 200,
    milestones: 200,
    userstories: 201,
    tasks: 201,
    "tasks/1": 403,
  });
  server.kill("SIGTERM");
  const [code] = (await once(server, "exit")) as [number | null];
  assert.equal(code, 0);
});
