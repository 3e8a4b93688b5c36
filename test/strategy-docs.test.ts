import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { textOf, type Item } from "../src/protocol/threads/items.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import { protocolText } from "../src/run/log/fold.ts";
import { eachRunDatabase } from "./run-suite.ts";
import { secondLook } from "./second-look.ts";

/** A page with a trace, and the strategy that leaves it. */
const pages = {
  "plan-execute.md": "plan-execute",
  "react.md": "react",
  "strategies.md": "second-look",
  "strategy-chat.md": "chat",
  "strategy-tools.md": "tools",
};

const read = (...path: string[]) => readFileSync(join(import.meta.dirname, "..", ...path), "utf8");

function traceIn(page: string): string[] {
  return /^```text\n(.*?)\n^```$/ms.exec(read("docs", page))![1]!.split("\n");
}

/** Of a line of a trace: the kind, the step if it has one, and the text, whose column begins at `column`. */
function cut(line: string, column: number): { kind: string; step: string; text: string } {
  const [kind = "", step = ""] = line.slice(0, column).trim().split(/ +/);
  return { kind, step, text: line.slice(column).replaceAll("⏎", "\n") };
}

/** What the model must have said for this trace: the text of each of its messages, or its calls where it has none. */
function answersOf(lines: readonly ReturnType<typeof cut>[]): ScriptAnswer[] {
  return lines
    .filter(({ kind, step }) => kind === "message" && step !== "")
    .map(({ step, text }) => {
      if (text !== "") return text;
      const calls = lines.filter((line) => line.kind === "call" && line.step === step);
      return calls.map((call) => {
        const [name, ...given] = call.text.split(" ");
        return { call: name!, arguments: given.join(" ") };
      });
    });
}

function told(item: Item): string {
  if (item.kind === "message") return (protocolText(item) ?? "") || textOf(item.body.content);
  if (item.kind === "call") return `${item.body.name} ${item.body.arguments}`;
  if (item.kind === "result") return item.body.content;
  if (item.kind === "plan") return item.body.steps.map(({ state, text }) => `${state}: ${text}`).join("; ");
  return item.kind === "state" && item.body.type === "run-end" ? item.body.status : "";
}

test("the example of strategies.md is a strategy that runs here", () => {
  const example = /^```ts\n(.*?)^```$/ms.exec(read("docs", "strategies.md"))![1]!;
  assert.equal(example.replaceAll('"../', '"../src/run/'), read("test", "second-look.ts"));
});

eachRunDatabase((suite) => {
  for (const [page, strategy] of Object.entries(pages))
    test(`the trace of ${page} is what its run leaves`, async () => {
      const shown = traceIn(page);
      const column = shown[0]!.search(/(?<= {9,})\S/);
      const lines = shown.map((line) => cut(line, column));
      const service = await suite.start({
        agent: { strategy },
        strategies: { "second-look": secondLook },
        script: answersOf(lines),
      });
      const { started } = await service.ask(lines[0]!.text);
      const items = await service.threads.listItems(service.caller, started.threadId, { limit: 1000 });
      const trace = items.map((item) =>
        `${`${item.kind.padEnd(8)} ${item.step ?? ""}`.padEnd(column)}${told(item).replaceAll("\n", "⏎")}`.trimEnd(),
      );
      assert.deepEqual(trace, shown);
    });
}, "pglite");
