import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve } from "../../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";

const gate = Promise.withResolvers<void>();
let server: AgentServing;
let tries = 0;
before(async () => {
  server = await serveAgents(({ messages }) => {
    const said = String(messages.at(-1)!.content);
    if (said === "slow") return [{ text: "begun" }, { gate: () => gate.promise }, { text: ", done" }];
    if (said !== "twice" || tries++ > 0) return "The other answer.";
    return [{ text: "One answer " }, { waitMs: 200 }, { error: "cut" }];
  });
});
after(() => server.close());

type ToldEvent = {
  readonly type: string;
  readonly sequence_number: number;
  readonly code?: string;
  readonly delta?: string;
  readonly response?: { readonly id: string; readonly status: string; readonly output: readonly object[] };
};

function ask(url: string, input: string): Promise<Response> {
  const body = JSON.stringify({ model: "assistant", input, stream: true });
  return fetch(`${url}/v1/responses`, { method: "POST", headers: { "content-type": "application/json" }, body });
}

async function eventsOf(response: Response): Promise<ToldEvent[]> {
  const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("event"));
  return events.map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)) as ToldEvent);
}
const textOf = (events: readonly ToldEvent[]) => events.map(({ delta }) => delta ?? "").join("");

test("a server that stops says so, and the stream is taken up at another one behind the last event", async () => {
  const leaving = await serve(server.services);
  const response = await ask(leaving.url, "slow");
  const reading = eventsOf(response);
  await leaving.close();
  const told = await reading;
  const last = told.at(-1)!;
  assert.deepEqual([last.type, last.code], ["error", "server_stops"]);
  gate.resolve();
  const { id } = told[0]!.response!;
  const rest = await fetch(`${server.url}/v1/responses/${id}?stream=true&starting_after=${last.sequence_number}`);
  const events = await eventsOf(rest);
  assert.equal(textOf([...told, ...events]), "begun, done");
  assert.equal(events.at(-1)!.type, "response.completed");
});

test("text that is withdrawn breaks the stream off; whoever looks again finds the answer that counts", async () => {
  const told = await eventsOf(await ask(server.url, "twice"));
  const last = told.at(-1)!;
  assert.deepEqual([textOf(told), last.type, last.code], ["One answer ", "error", "text_withdrawn"]);
  const { id } = told[0]!.response!;
  for (let looks = 0; ; looks++) {
    const found = (await (await fetch(`${server.url}/v1/responses/${id}`)).json()) as ToldEvent["response"];
    if (found!.status === "completed") {
      assert.match(JSON.stringify(found!.output), /"The other answer\."/);
      break;
    }
    assert.ok(looks < 1000, found!.status);
  }
});
