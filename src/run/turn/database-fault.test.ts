import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf } from "../../../test/run-suite.ts";

const raise = (code: string) => `raise exception 'a fault of the machine' using errcode = '${code}'`;
/** What says nothing about the run: the next try may well pass. */
const faults = {
  pglite: { "a full disk": raise("53100"), "a disk that can't be read": raise("58030") },
  // The connection is gone in the middle of the statement.
  postgres: { "a full disk": raise("53100"), "a killed connection": "perform pg_terminate_backend(pg_backend_pid())" },
};

eachRunDatabase(({ kind, database, start }) => {
  /** The first item of a kind that is written meets with a fault, all others get in. */
  async function failOnce(itemKind: "call" | "result", fault: string): Promise<() => Promise<unknown>> {
    // What a sequence has given is not taken back with the transaction.
    await database().script(`create sequence faults;
      create function fail_once() returns trigger language plpgsql as $$
        begin if nextval('faults') = 1 then ${fault}; end if; return new; end $$;
      create trigger fail_once before insert on items for each row when (new.kind = '${itemKind}') execute function fail_once();`);
    return () => database().script("drop trigger fail_once on items; drop function fail_once; drop sequence faults;");
  }
  const faultsMet = async () =>
    (await database().query<{ met: boolean }>("select is_called as met from faults"))[0]!.met;
  const titles = async () =>
    (await database().query<{ title: string }>("select title from tasks")).map(({ title }) => title);

  const milk = { call: "add_task", arguments: { title: "Milk" } };
  const hand = { call: "delegate", arguments: { agent: "worker", task: "Add milk." } };

  for (const [name, fault] of Object.entries(faults[kind])) {
    // What a model has answered is written again; a transaction of a tool's own is done anew by whoever takes the run.
    for (const [itemKind, owners] of [
      ["call", 1],
      ["result", 2],
    ] as const)
      test(`${name} as a ${itemKind} is written: the run ends well, and ${owners} worked on it`, async (t) => {
        t.after(await failOnce(itemKind, fault));
        const service = await start({
          script: ({ messages }) => (messages.at(-1)!.role === "tool" ? "Added." : [milk]),
        });
        await database().query("delete from tasks");
        const { started, text } = await service.ask("go");
        assert.ok(await faultsMet());
        assert.equal(text, "Added.");
        const { status, error, epoch } = await rowOf(database(), started.runId);
        assert.deepEqual({ status, error, epoch }, { status: "done", error: null, epoch: owners });
        assert.deepEqual(await titles(), ["Milk"]);
      });

    test(`${name} in a delegated run gives back the one that delegated it, and both end well`, async (t) => {
      t.after(await failOnce("result", fault));
      const service = await start({
        agent: { id: "assistant", instructions: "boss", tools: [], agents: ["worker"] },
        agents: [{ id: "worker", instructions: "worker", tools: ["add_task"] }],
        script: ({ messages }) => {
          if (messages.at(-1)!.role === "tool") return "Added.";
          return String(messages[0]!.content).startsWith("boss") ? [hand] : [milk];
        },
      });
      await database().query("delete from tasks");
      const { started, text } = await service.ask("go");
      assert.ok(await faultsMet());
      assert.equal(text, "Added.");
      const runs = await database().query<{ status: string }>("select status from runs where root_run = $1", [
        started.runId,
      ]);
      assert.deepEqual(
        runs.map(({ status }) => status),
        ["done", "done"],
      );
      assert.deepEqual(await titles(), ["Milk"]);
    });
  }
});
