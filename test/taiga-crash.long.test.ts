import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { eachDatabase, type TestDatabases } from "./databases.ts";
import { sampled } from "./sampled.ts";
import { deletingModel, planned, planningModel, serveTaigaAgent } from "./taiga-agent.ts";
import { startTaiga } from "./taiga/server.ts";

const program = join(import.meta.dirname, "taiga-until-killed.ts");
const writes = Object.keys(planned).length;
/** Most of each is waiting: for the dead process's job, and until its last request surely has arrived. */
const workers = 4;

describe("killed around writes to Taiga", { concurrency: true }, () => eachDatabase(suite));

function suite({ kind, place: freshPlace }: TestDatabases): void {
  /** `before`: the request has come and is not done; `after`: it is done, and its answer is not sent. */
  async function killAt(when: "before" | "after", skip: number): Promise<void> {
    const point = `${when} write ${skip + 1}`;
    const taiga = await startTaiga();
    const place = await freshPlace();
    const pause = taiga.pause({ method: "write" }, { when, skip });
    const input = JSON.stringify({ place, url: taiga.url, token: taiga.tokensOf("bruno").auth_token });
    const child = spawn(process.execPath, [program, input], { stdio: ["ignore", "ignore", "inherit"] });
    await pause.reached;
    child.kill("SIGKILL");
    await once(child, "exit");
    pause.drop();
    assert.equal(taiga.state.writes.length, when === "before" ? skip : skip + 1, point);

    const database = await openDatabase(place);
    const agent = await serveTaigaAgent(database, { url: taiga.url, script: planningModel });
    try {
      const [run] = await agent.runs.list(agent.caller, {});
      while ((await agent.runs.get(agent.caller, run!.id)).endedAt === null)
        await new Promise((resolve) => setTimeout(resolve, 100));
      const ended = await agent.runs.get(agent.caller, run!.id);
      assert.deepEqual([ended.status, ended.error], ["done", null], point);
      assert.deepEqual(taiga.state.counts(), planned, point);
      assert.equal(taiga.state.writes.length, writes, point);
      assert.deepEqual(await database.query("select 1 from run_secrets"), [], point);
      const answer = (await (await fetch(`${agent.url}/agent/run/${run!.id}`)).json()) as {
        artifacts: { id: number }[];
      };
      assert.equal(answer.artifacts.length, writes, point);
      const broken = (await checkInvariants(database.query)).filter((invariant) => invariant.broken > 0);
      assert.deepEqual(broken, [], point);
    } finally {
      await agent.close();
      await database.close();
      await taiga.close();
    }
  }

  test(`${kind}: killed around a deletion that was allowed: done once, and told`, { timeout: 300_000 }, async () => {
    for (const when of ["before", "after"] as const) {
      const taiga = await startTaiga();
      const place = await freshPlace();
      const { id, ref, subject } = taiga.state.story("Import the list of customers");
      const pause = taiga.pause({ method: "DELETE" }, { when });
      const input = JSON.stringify({ place, url: taiga.url, token: taiga.tokensOf("bruno").auth_token, deletes: id });
      const child = spawn(process.execPath, [program, input], { stdio: ["ignore", "ignore", "inherit"] });
      await pause.reached;
      child.kill("SIGKILL");
      await once(child, "exit");
      pause.drop();

      const database = await openDatabase(place);
      const agent = await serveTaigaAgent(database, { url: taiga.url, script: deletingModel(id) });
      try {
        const [run] = await agent.runs.list(agent.caller, {});
        while ((await agent.runs.get(agent.caller, run!.id)).endedAt === null)
          await new Promise((resolve) => setTimeout(resolve, 100));
        const answer = (await (await fetch(`${agent.url}/agent/run/${run!.id}`)).json()) as {
          stop_reason: string;
          artifacts: { action: string; id: number; ref: number; subject: string }[];
        };
        assert.equal(answer.stop_reason, "end", when);
        const told = answer.artifacts.map((each) => [each.action, each.id, each.ref, each.subject]);
        assert.deepEqual(told, [["deleted", id, ref, subject]], when);
        assert.equal(taiga.state.writes.filter(({ method }) => method === "DELETE").length, 1, when);
      } finally {
        await agent.close();
        await database.close();
        await taiga.close();
      }
    }
  });

  test(
    `${kind}: killed around each write to Taiga: the same stories and tasks, each once`,
    { timeout: 1_200_000 },
    async () => {
      const points = Array.from({ length: writes }, (_, skip) => [
        { when: "after" as const, skip },
        { when: "before" as const, skip },
      ]).flat();
      const left = [...sampled(points, 8)];
      const work = async () => {
        for (let point = left.shift(); point; point = left.shift()) await killAt(point.when, point.skip);
      };
      await Promise.all(Array.from({ length: workers }, work));
    },
  );
}
