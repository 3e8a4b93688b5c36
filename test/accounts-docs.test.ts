import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { asker } from "./accounts.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const page = readFileSync(join(import.meta.dirname, "../docs/accounts.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text = ""]) => ({ language, text }));
const yaml = blocks.filter(({ language }) => language === "yaml").map(({ text }) => text);

let colloquy: Colloquy;
before(async () => {
  const cwd = temporaryFolder("docs");
  writeFileSync(join(cwd, "colloquy.yaml"), yaml[0]!);
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
  };
  colloquy = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
  const token = (await colloquy.setupLink())!.split("#")[1];
  const body = { token, username: "ada", password: "correct horse" };
  assert.equal((await asker(colloquy.url)("POST", "/api/auth/setup", { body })).status, 201);
});
after(() => colloquy.stop());

test("the shell examples of accounts.md do what they show, one after the other", async () => {
  const shown = blocks.flatMap(({ language, text }, index) =>
    language === "sh" ? [{ text, output: blocks[index + 1]!.text }] : [],
  );
  assert.equal(shown.length, 4);
  const script = shown
    .map(({ text }) => text.replaceAll("localhost:8000", new URL(colloquy.url).host))
    .join("\necho @@\n");
  const { stdout } = await promisify(execFile)("sh", ["-euc", script]);
  const outputs = stdout.split("@@\n");
  for (const [index, { output }] of shown.entries()) {
    const parts = output
      .trim()
      .split("…")
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    assert.match(outputs[index]!.trim(), new RegExp(`^${parts.join(".*?")}$`, "s"));
  }
});

test("the configurations of accounts.md and remote-access.md load", () => {
  const remote = readFileSync(join(import.meta.dirname, "../docs/remote-access.md"), "utf8");
  const [, proxied = ""] = /^```yaml\n(.*?)^```$/ms.exec(remote)!;
  for (const text of [...yaml, proxied]) {
    const cwd = temporaryFolder("docs");
    writeFileSync(join(cwd, "colloquy.yaml"), text);
    const { auth } = loadConfig({ cwd, env: { OIDC_CLIENT_SECRET: "from the provider" } });
    assert.equal(auth.mode, "accounts");
    if (auth.oidc) assert.deepEqual(auth.oidc.adminGroups, ["it"]);
  }
});
