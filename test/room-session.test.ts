import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import { roomStrategies } from "../src/rooms/strategies.ts";
import { bashTool } from "../src/tools/code/bash.ts";
import { openTestPlace, type TestPlace } from "./code-place.ts";
import { analysisRoom, linesOf, memberOf, saidIn, sayIn, scriptOf, speakerOf } from "./rooms.ts";
import { commandLines } from "./processes.ts";
import { openRoom } from "./room-place.ts";
import { eachRunDatabase, until } from "./run-suite.ts";

const opened = await openTestPlace();
const skip = opened ? false : "no bubblewrap";
const place = opened ?? ({} as TestPlace);
after(() => opened?.close());

const bash = (cmd: string): ScriptAnswer => [{ call: "bash", arguments: { cmd } }];

const look = "ls *.csv && head -3 sales.csv";
const top = `python3 << 'EOF'
import pandas as pd
df = pd.read_csv('sales.csv')
print(df.groupby('customer_id')['amount'].sum().sort_values(ascending=False).head(10))
EOF`;
const products = `python3 << 'EOF'
import pandas as pd
df = pd.read_csv('sales.csv')
c045 = df[df['customer_id'] == 'C045']
print(c045.groupby('product').agg({'amount': ['count', 'sum']}).sort_values(('amount', 'sum'), ascending=False))
EOF`;

const lines = {
  data: [
    "Sure! @code can you show me the first few rows and columns of any CSV files in the workspace?",
    "Good, we have customer_id and amount. @code can you group by customer_id, sum the amounts, and show top 10?",
    "There we go! Customer C045 is your top spender at $12,450 total. Want me to dig deeper?",
    "@code filter for customer C045 and show product breakdown with counts and totals",
    "C045 loves the Widget Pro - 23 purchases totaling $8,500. @user want me to check for similar customers?",
  ],
  code: [bash(look), "There it is.", bash(top), "Top 10 above.", bash(products), "Breakdown above."],
  reviewer: ["[pass]", "[pass]"],
} as const;

/** Sales of which C045 made the most, and most of it with one product. */
function salesCsv(): string {
  const rows: string[] = [];
  const sell = (customer: string, product: string, count: number, total: number) => {
    for (let sale = 0; sale < count; sale++)
      rows.push(`${customer},2024-01-${10 + (rows.length % 20)},${(total / count).toFixed(10)},${product}`);
  };
  sell("C001", "Widget A", 1, 150);
  sell("C002", "Widget B", 1, 75.5);
  sell("C045", "Widget Pro", 23, 8500);
  sell("C045", "Widget A", 15, 2950);
  sell("C045", "Widget B", 8, 1000);
  sell("C012", "Widget Pro", 11, 8920.5);
  return `customer_id,date,amount,product\n${rows.join("\n")}\n`;
}

eachRunDatabase((suite) => {
  test(
    "the session of the room's first design: the same turns in the same order, with a real file",
    { skip },
    async () => {
      const service = await suite.start({
        strategies: roomStrategies,
        tools: [bashTool(place)],
        agents: [await analysisRoom()],
        script: scriptOf(lines),
      });
      const thread = await service.threads.createThread(service.caller, { title: "Sales" });
      await (await place.workspaces.open(thread.id)).write("sales.csv", salesCsv());
      const seen: RunEvent[] = [];
      const say = async (content: string) =>
        seen.push(...(await sayIn(service, content, { agent: "analysis", threadId: thread.id })).seen);
      await say("Hey @data, I have a CSV with sales data. Can you help me find the top customers?");
      await say("Yeah, what's C045 buying?");

      const turns = seen.flatMap((event) => (event.type === "turn-start" ? [event.agent] : []));
      const second = ["data", "code", "data", "reviewer"];
      assert.deepEqual(turns, ["data", "code", "data", "code", "data", "reviewer", ...second]);
      assert.deepEqual(saidIn(seen), [
        "@user: Hey @data, I have a CSV with sales data. Can you help me find the top customers?",
        `@data: ${lines.data[0]}`,
        "@code: There it is.",
        `@data: ${lines.data[1]}`,
        "@code: Top 10 above.",
        `@data: ${lines.data[2]}`,
        "(@reviewer passes)",
        "@user: Yeah, what's C045 buying?",
        `@data: ${lines.data[3]}`,
        "@code: Breakdown above.",
        `@data: ${lines.data[4]}`,
        "(@reviewer passes)",
      ]);
      const results = seen.flatMap((event) => (event.type === "call-end" ? [event.item.body.content] : []));
      assert.match(results[0]!, /^sales\.csv\ncustomer_id,date,amount,product\nC001,/);
      assert.match(results[1]!, /C045 +12450\.0+\nC012 +8920\.5/);
      assert.match(results[2]!, /Widget Pro +23 +8500\.0\nWidget A +15 +2950\.0\nWidget B +8 +1000\.0/);

      // What each was told: its own words as its own, those of others with their names and what they ran.
      const asked = service.model.requests.filter((request) => speakerOf(request) === "data")[1]!;
      assert.deepEqual(linesOf(asked), [
        "user: [@user]: Hey @data, I have a CSV with sales data. Can you help me find the top customers?",
        `assistant: ${lines.data[0]}`,
        `user: [@code]: There it is.\n[ran: ${look}]\n[result]: ${results[0]}`,
      ]);
      assert.equal(asked.tools, undefined);
      const coder = service.model.requests.findLast((request) => speakerOf(request) === "code")!;
      assert.deepEqual(
        coder.tools?.map(({ name }) => name),
        ["bash"],
      );
    },
  );

  test(
    "the same session with a @code that says nothing after its commands: each output is answered",
    { skip },
    async () => {
      const [first, , third] = lines.data;
      const service = await suite.start({
        strategies: roomStrategies,
        tools: [bashTool(place)],
        agents: [await analysisRoom()],
        script: scriptOf({ data: [first, third], code: [bash(look), ""], reviewer: ["[pass]"] }),
      });
      const thread = await service.threads.createThread(service.caller, { title: "Sales" });
      await (await place.workspaces.open(thread.id)).write("sales.csv", salesCsv());
      const question = "Hey @data, I have a CSV with sales data. Can you help me find the top customers?";
      const { seen } = await sayIn(service, question, { agent: "analysis", threadId: thread.id });
      assert.deepEqual(
        seen.flatMap((event) => (event.type === "turn-start" ? [event.agent] : [])),
        ["data", "code", "data", "reviewer"],
      );
      assert.deepEqual(saidIn(seen), [
        `@user: ${question}`,
        `@data: ${first}`,
        `@data: ${third}`,
        "(@reviewer passes)",
      ]);
      const [result] = seen.flatMap((event) => (event.type === "call-end" ? [event.item.body.content] : []));
      assert.match(result!, /^sales\.csv\ncustomer_id,date,amount,product\n/);
      const asked = service.model.requests.findLast((request) => speakerOf(request) === "data")!;
      assert.equal(linesOf(asked).at(-1), `user: [@code]: \n[ran: ${look}]\n[result]: ${result}`);
    },
  );

  test("an interruption ends the programs of the turn too", { skip }, async () => {
    const { rooms, ada, id, say, over, seen } = await openRoom(suite, {
      room: { members: [memberOf("code", { tools: ["bash"] })] },
      tools: [bashTool(place)],
      script: scriptOf({ code: [bash("echo begun; (setsid sleep 4397 &); sleep 4398")] }),
    });
    const lives = () => commandLines().some((line) => /sleep 439[78]/.test(line));
    const run = await say(ada, "@code wait");
    await until(() => seen.some((event) => event.type === "progress" && event.text === "begun\n"), "its output");
    assert.ok(lives());
    await rooms.interrupt(ada, id, "code");
    await over(run);
    await until(() => !lives(), "the end of its processes");
    const result = seen.find((event) => event.type === "call-end");
    assert.ok(result?.type === "call-end" && result.item.body.isError);
  });
}, "pglite");
