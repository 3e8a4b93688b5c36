import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Body, ServerCall, WireFormat } from "../../test/model-servers/answers.ts";
import { openaiWire } from "../../test/model-servers/openai-wire.ts";
import { sendAnswer } from "../../test/model-servers/send-answer.ts";
import { listen, type Listening } from "../listen.ts";
import type { Random } from "../random.ts";
import { callsOf, scriptIn, type Script, textOf } from "../script.ts";

export type ModelServer = Listening & {
  /** Cuts what it is saying and answers nothing, until this is over. */
  outage(ms: number): Promise<void>;
  requests(): number;
};

type Message = {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
};

/**
 * A model that does what its script says and then answers. What it says follows from the request alone, so that any step may be
 * asked for again. Told that a call failed, it calls again, as real models do: at most twice.
 */
export async function startModelServer(random: Random): Promise<ModelServer> {
  let out: "no" | "refuses" | "drops" = "no";
  let requests = 0;
  const open = new Set<ServerResponse>();

  const server = createServer(async (request, response) => {
    const number = ++requests;
    open.add(response);
    response.on("close", () => open.delete(response));
    const body = JSON.parse(await text(request)) as Body;
    const messages = body["messages"] as readonly Message[];
    const script = scriptOf(messages);
    const paceMs = random.between(5, 20);
    await sleep(random.between(50, 250));
    if (out === "drops") return void response.destroy();
    if (out === "refuses") return void response.writeHead(503).end('{"error":{"message":"overloaded"}}');
    if (!script) return void response.writeHead(400).end('{"error":{"message":"no script"}}');
    const calls = nextCalls(script, messages);
    const words = calls.length > 0 ? [] : textOf(script, script.rounds.length);
    await sendAnswer(
      response,
      { text: words, ...(calls.length > 0 && { calls }), paceMs },
      { wire: wireOf(number), body },
    );
  });
  return {
    ...(await listen(server)),
    requests: () => requests,
    async outage(ms) {
      out = random.pick(["refuses", "drops"]);
      for (const response of open) response.destroy();
      await sleep(ms);
      out = "no";
    },
  };
}

/** Each answer under an id of its own: there are clients that take two messages of one id for one. */
function wireOf(count: number): WireFormat {
  const renamed = (text: string) => text.replaceAll('"chatcmpl-1"', `"chatcmpl-${count}"`);
  return {
    ...openaiWire,
    frames(answer, body) {
      const { said, finish, mark } = openaiWire.frames(answer, body);
      return { said: said.map(renamed), finish: finish.map(renamed), mark };
    },
    whole: (answer, body) => JSON.parse(renamed(JSON.stringify(openaiWire.whole(answer, body)))) as object,
  };
}

function scriptOf(messages: readonly Message[]): Script | undefined {
  const content = messages.findLast(({ role }) => role === "user")?.content;
  return scriptIn(plain(content));
}

/** Text, or parts of it. */
function plain(content: unknown): string {
  if (typeof content === "string") return content;
  return (Array.isArray(content) ? (content as { text?: string }[]) : []).map((part) => part.text ?? "").join("");
}

const maxTries = 3;

/** The calls of the first round that has some to make, those that were told to have failed among them. */
function nextCalls(script: Script, messages: readonly Message[]): readonly ServerCall[] {
  const results = new Map(messages.map((message) => [message.tool_call_id, plain(message.content)]));
  const made = Map.groupBy(
    messages.flatMap((message) => message.tool_calls ?? []),
    (call) => (JSON.parse(call.function.arguments) as { effect?: string }).effect,
  );
  for (const round of script.rounds.keys()) {
    const due = callsOf(script, round).flatMap((call) => {
      const before = made.get(call.effect) ?? [];
      const last = before.at(-1);
      if (last && (before.length >= maxTries || !hasFailed(results.get(last.id)))) return [];
      return [
        { name: call.name, arguments: call.arguments, id: `call_${call.effect}_${before.length}`.replaceAll(".", "_") },
      ];
    });
    if (due.length > 0) return due;
  }
  return [];
}

/** As a model reads a result: not its fields, its words. */
function hasFailed(result = ""): boolean {
  if (/unknown|not known/i.test(result)) return false;
  return /fail|error|socket|reset|hang up|refused|terminated|ECONN|abort|time(d )?-?out/i.test(result);
}
