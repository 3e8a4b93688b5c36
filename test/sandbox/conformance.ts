import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { messageOf } from "../../src/protocol/base/errors.ts";
import type { Sandbox, SandboxDriver } from "../../src/sandbox/sandbox.ts";
import { withQuota } from "../../src/sandbox/quota/with-quota.ts";
import { createSpace } from "../../src/sandbox/workspace/space.ts";
import { drivers, expectations } from "./drivers.ts";
import { openOutside, type Outside } from "./outside.ts";
import { probes } from "./probes.ts";

/** Runs all probes in the sandboxes of the drivers of these names, as they come without configuration. */
export async function testConformance(...names: readonly SandboxDriver["name"][]): Promise<void> {
  await testConformanceOf(drivers.filter(({ name }) => names.includes(name)));
}

/** A driver that does not work here is skipped, and that is said. */
export async function testConformanceOf(chosen: readonly SandboxDriver[]): Promise<void> {
  for (const driver of chosen) {
    const sandbox = await openPresent(driver);
    if (typeof sandbox === "string") {
      suite(driver.name, { skip: sandbox });
      continue;
    }
    suite(`${driver.name} (${sandbox.report.grade})`, () => {
      let outside: Outside;
      before(async () => void (outside = await openOutside()));
      after(async () => {
        await sandbox.close();
        await outside.close();
      });
      for (const [name, probe] of Object.entries(probes)) {
        const expected = expectations[driver.name][name] ?? "held";
        if (expected === "absent") continue;
        test(`${name}: ${expected}`, async () => {
          const workspace = await outside.newWorkspace();
          const signal = AbortSignal.timeout(60_000);
          const found = await probe({
            sandbox,
            outside,
            workspace,
            run: (script, options) => sandbox.run({ argv: ["bash", "-c", script], workspace, signal, ...options }),
          });
          await sandbox.release(workspace);
          assert.equal(found === undefined ? "held" : "open", expected, found);
        });
      }
    });
  }
}

/** Else why it does not work here. */
async function openPresent(driver: SandboxDriver): Promise<Sandbox | string> {
  try {
    return withQuota(await driver.open(AbortSignal.timeout(60_000)), createSpace());
  } catch (error) {
    return `${driver.name} does not work here: ${messageOf(error)}`;
  }
}
