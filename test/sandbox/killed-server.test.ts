import assert from "node:assert/strict";
import { test } from "node:test";
import { messageOf } from "../../src/protocol/base/errors.ts";
import { drivers } from "./drivers.ts";
import { stopsWithItsServer } from "./killed-server.ts";

for (const driver of drivers.filter(({ name }) => name === "landlock")) {
  const skip = await driver.open(AbortSignal.timeout(60_000)).then(
    (sandbox) => void sandbox.close(),
    (error: unknown) => `LEFT OUT: ${driver.name} does not work here: ${messageOf(error)}`,
  );
  if (skip) console.log(skip);
  test(`${driver.name}: a command stops with its server`, { skip: skip ?? false }, async () => {
    assert.ok(await stopsWithItsServer(driver.name));
  });
}
