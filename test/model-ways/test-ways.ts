import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eachDatabase } from "../databases.ts";
import { openWays, type Came, type WaysPlace, type When } from "./place.ts";
import { kinds, outcomeOf, type Outcome, type Way, type WireName } from "./ways.ts";

/** What no person may read. */
const markup =
  /<\/?think|<\/?tool_|<\|[a-z_]+\|>|<\/?function\b|<\/?parameter\b|\[TOOL_CALLS\]|"(arguments|parameters)"\s*:/;

/** Each way over a wire, for agents of all kinds. */
export function testWays(wire: WireName, ways: readonly Way[], when: readonly When[] = ["first"]): void {
  eachDatabase(({ kind: database, open }) => {
    if (database !== "pglite") return;
    let place: WaysPlace;
    before(async () => {
      place = await openWays(await open(), wire);
    });
    after(() => place.close());

    for (const way of ways)
      test(`${wire}: ${way.name}`, async () => {
        const wrong: string[] = [];
        for (const time of when)
          for (const kind of kinds) {
            const came = await place.run(way, kind, time);
            // Not the first time, the outcome depends on what was asked then; but it ends, and well.
            const outcome = time === "first" ? outcomeOf(way, kind) : {};
            wrong.push(...wrongIn(came, outcome).map((why) => `${kind} (${time}): ${why}`));
          }
        assert.deepEqual(wrong, []);
      });
  });
}

function wrongIn(came: Came, { done, failed, either, writes }: Outcome): string[] {
  const wrong: string[] = [];
  const fits = (text: string, wanted: string) =>
    wanted.startsWith("/") ? new RegExp(wanted.slice(1, -1)).test(text) : text === wanted;
  const { status, error, said } = came;
  const shown = `${status} ${JSON.stringify(said.slice(0, 200))} ${error ? `${error.code}: ${error.message}` : ""}`;
  if (done !== undefined && (status !== "done" || !fits(said, done))) wrong.push(`not ${done} but ${shown}`);
  const words = failed ?? (status === "failed" ? either : undefined);
  if (words !== undefined && (status !== "failed" || !fits(error?.message ?? "", words)))
    wrong.push(`not failed with ${words} but ${shown}`);
  if (either !== undefined && status !== "failed" && status !== "done") wrong.push(shown);
  if (error?.code === "internal") wrong.push(`a fault of the program: ${error.message}`);
  if (writes !== undefined && came.writes !== writes) wrong.push(`${came.writes} writes, not ${writes}; ${shown}`);
  if (markup.test(said) || markup.test(error?.message ?? "")) wrong.push(`markup: ${shown}`);
  const calls = came.items.filter(({ kind }) => kind === "call").length;
  const results = came.items.filter(({ kind }) => kind === "result").length;
  if (calls !== results) wrong.push(`${calls} calls, ${results} results`);
  return wrong;
}
