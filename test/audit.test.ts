import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { temporaryFolder } from "./pglite.ts";

const script = join(import.meta.dirname, "../scripts/audit.mjs");
const advisory = {
  id: 7,
  url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
  title: "Lets everybody in",
  severity: "high",
  vulnerable_versions: "<2",
};

let answering: "advisories" | "refusal" | "silence" = "advisories";
const asked: unknown[] = [];
const registry = createServer((request, response) => {
  void buffer(request).then((body) => {
    if (answering === "silence") return;
    if (request.method !== "POST" || answering === "refusal") return response.writeHead(405).end();
    const isPacked = request.headers["content-encoding"] === "gzip";
    asked.push(JSON.parse((isPacked ? gunzipSync(body) : body).toString()));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ door: [advisory] }));
  });
});
let folder = "";
before(async () => {
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  folder = temporaryFolder("audit");
  const entry = { version: "1.0.0", resolved: "http://127.0.0.1/door.tgz", integrity: "sha512-AA==" };
  const dependencies = { door: "1.0.0" };
  const packages = { "": { name: "house", version: "1.0.0", dependencies }, "node_modules/door": entry };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "house", version: "1.0.0", dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ name: "house", lockfileVersion: 3, packages }));
});
after(() => {
  registry.closeAllConnections();
  registry.close();
});

function audit(seconds = 30): Promise<{ readonly code: unknown; readonly said: string }> {
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(folder, "cache"),
  };
  return new Promise((resolve) =>
    execFile(process.execPath, [script, folder, String(seconds)], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    ),
  );
}

function allow(until: string): void {
  const entry = { id: "GHSA-aaaa-bbbb-cccc", package: "door", reason: "nobody comes there", until };
  writeFileSync(join(folder, "audit-allow.json"), JSON.stringify([entry]));
}

test("a known hole fails until a reason is given, and again when its time is over", async () => {
  answering = "advisories";
  const { code, said } = await audit();
  assert.equal(code, 1, said);
  assert.match(said, /^high: door: Lets everybody in https:\S+$/m);
  assert.deepEqual(asked[0], { door: ["1.0.0"] });
  allow("9999-12-31");
  assert.deepEqual(await audit(), { code: 0, said: "1 known holes, 0 of them below high\n" });
  allow("2020-01-01");
  const late = await audit();
  assert.equal(late.code, 1);
  assert.match(late.said, /\(allowed until 2020-01-01\)/);
});

test("a registry that keeps no advisories, or does not answer, is said and passes", async () => {
  answering = "refusal";
  const refused = await audit();
  assert.equal(refused.code, 0);
  assert.match(refused.said, /^not audited: the registry answered: 405 /);
  answering = "silence";
  const silent = await audit(2);
  assert.equal(silent.code, 0);
  assert.match(silent.said, /^not audited: /);
});
