import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Cell, cellsOf } from "../clients/proven.ts";
import { sampled } from "../sampled.ts";
import { enterWorld } from "./enter-world.ts";
import { installProgram, type ProgramName, programs } from "./programs.ts";
import { sceneOf, type Told } from "./scenes.ts";

/** What a real program does with a model, an agent and a room of ours, where no way leads out. */
export function proveProgram(name: ProgramName): void {
  const { client, version, retryCount } = programs[name];
  const { path, skip } = installProgram(name);
  const keyOf = (cell: Cell) => JSON.stringify(sceneOf(cell));
  // A program takes seconds to start.
  const keys = sampled([...new Set(cellsOf(client).map(keyOf))], 5);
  const cells = cellsOf(client).filter((cell) => keys.includes(keyOf(cell)));

  describe(`${client} ${version}`, { skip }, () => {
    const told = new Map<string, Told>();
    before(async () => {
      const scenes = keys.map((key) => JSON.parse(key) as ReturnType<typeof sceneOf>);
      for (const [index, each] of (await enterWorld({ name, path }, scenes)).entries()) told.set(keys[index]!, each);
    });

    for (const cell of cells)
      test(`${cell.feature} on ${cell.target}`, () => {
        const scene = told.get(keyOf(cell));
        assert.ok(scene, "its world did not come so far");
        const { code, output, errors, asked, made, tasks, finals, killed } = scene;
        assert.equal(code, 0, errors);
        if (cell.feature === "approval") {
          assert.match(output, /May add_task be called.*colloquy answer [0-9a-f-]{36} allow/s);
          return assert.deepEqual({ tasks, finals }, { tasks: 1, finals: 1 });
        }
        assert.match(output, /It is made\./);
        const isRoom = cell.target === "room";
        const once = { made: isRoom ? 0 : 1, tasks: cell.target === "agent" ? 1 : 0 };
        if (cell.feature !== "resume") return assert.deepEqual({ made, tasks, finals }, { ...once, finals: 1 });
        // The answer that broke off, and the one of the same run after the restart.
        assert.deepEqual({ made, tasks, finals, killed }, { ...once, finals: 2, killed: 1 });
        const [first, again] = asked.slice(-2);
        assert.equal(again!["content-length"], first!["content-length"], "the same is asked");
        assert.equal(again!["x-stainless-retry-count"], retryCount);
        assert.equal(again!["idempotency-key"], undefined);
      });
  });
}
