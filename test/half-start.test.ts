import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

let data: string;
let inTheWay: Server;
before(async () => {
  data = await freshDataDirectory();
  inTheWay = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => inTheWay.once("listening", resolve));
});
after(() => void inTheWay.close());

const start = (env: Readonly<Record<string, string>>) =>
  startColloquy(
    loadConfig({
      env: { PATH: process.env["PATH"] ?? "", COLLOQUY_DATA: data, COLLOQUY_PORT: "0", ...env },
      cwd: temporaryFolder("half-start"),
    }),
    { log: silentLog },
  );

const failures = {
  config_invalid: {
    // An agent has this name: that is seen when the database, models and tools are open.
    COLLOQUY_MODELS__0__ID: "assistant",
    COLLOQUY_MODELS__0__PROVIDER: "openai",
    COLLOQUY_MODELS__0__MODEL: "m",
    COLLOQUY_MODELS__0__BASE_URL: "http://127.0.0.1:9/v1",
  },
  // Seen last of all.
  port_in_use: () => ({ COLLOQUY_PORT: String((inTheWay.address() as AddressInfo).port) }),
};

test("a start that fails closes what was open, and the next one has the data directory", async () => {
  for (const [code, env] of Object.entries(failures))
    await assert.rejects(start(typeof env === "function" ? env() : env), { code });
  const colloquy = await start({});
  try {
    const { status } = await fetch(`${colloquy.url}/readyz`);
    assert.equal(status, 200);
  } finally {
    await colloquy.stop();
  }
  await colloquy.stop();
  await assert.rejects(fetch(`${colloquy.url}/readyz`));
});
