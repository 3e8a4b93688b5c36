import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { Body, ServerAnswer } from "../test/model-servers/answers.ts";
import { openaiWire } from "../test/model-servers/openai-wire.ts";
import { sendAnswer } from "../test/model-servers/send-answer.ts";
import { listen, type Listening } from "./listen.ts";
import type { Random } from "./random.ts";
import { callsOf, scriptIn, textOf, type Script } from "./script.ts";

export type ModelServer = Listening & {
  /** From now on nothing goes wrong. */
  calm(): void;
  /** Nobody gets an answer, until it is back. */
  leave(how: Away): void;
  comeBack(): void;
  /** How many faults the answers to a script had. */
  faultsOf(tag: string): number;
  readonly counts: { requests: number; faults: number };
};

/** What a request to a provider that is away meets with. */
export type Away = "reset" | "hang" | "503" | "429";

type Message = { readonly role: string; readonly content: unknown; readonly tool_calls?: readonly unknown[] };

/** A model whose answer follows from the request alone, so that any step may be asked for again; some answers go wrong. */
export async function startModelServer(random: Random): Promise<ModelServer> {
  let isCalm = false;
  let away: Away | undefined;
  const faults = new Map<string, number>();
  const counts = { requests: 0, faults: 0 };

  const server = createServer(async (request, response) => {
    if (away === "reset") return void request.socket.resetAndDestroy();
    // Its client ends it.
    if (away === "hang") return;
    if (away) {
      const headers = away === "429" ? { "retry-after": "3" } : {};
      return void response.writeHead(Number(away), headers).end('{"error":{"message":"away"}}');
    }
    const body = JSON.parse(await text(request)) as Body;
    const found = placeIn(body["messages"] as readonly Message[]);
    counts.requests++;
    if (!found) {
      const last = JSON.stringify((body["messages"] as readonly Message[]).slice(-3)).slice(0, 1000);
      return void response.writeHead(400).end(JSON.stringify({ error: { message: `no script in ${last}` } }));
    }
    const { script, round } = found;
    const fault = isCalm ? undefined : faultOf(random);
    if (fault) {
      counts.faults++;
      faults.set(script.tag, (faults.get(script.tag) ?? 0) + 1);
    }
    const whole = textOf(script, round);
    const isCut = fault?.fault !== undefined;
    await sendAnswer(
      response,
      {
        text: isCut ? whole.slice(0, whole.length >> 1) : whole,
        calls: isCut ? [] : callsOf(script, round),
        paceMs: random.between(5, 60),
        usage: { input: 100, output: whole.length },
        ...fault,
      },
      { wire: openaiWire, body },
    );
  });
  return {
    ...(await listen(server)),
    calm: () => void (isCalm = true),
    leave: (how) => void (away = how),
    comeBack: () => void (away = undefined),
    faultsOf: (tag) => faults.get(tag) ?? 0,
    counts,
  };
}

/** Which script the request is about, and how many of its rounds have been done. */
function placeIn(messages: readonly Message[]): { script: Script; round: number } | undefined {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const { content } = messages[last] ?? {};
  // What was said after a message that got no answer comes as one with it.
  const script = typeof content === "string" ? scriptIn(content.split("\n\n").at(-1)!) : undefined;
  const round = messages
    .slice(last + 1)
    .filter(({ role, tool_calls: calls }) => role === "assistant" && calls?.length).length;
  return script && { script, round };
}

function faultOf(random: Random): Partial<ServerAnswer> | undefined {
  if (!random.chance(0.05)) return undefined;
  return random.pick<Partial<ServerAnswer>>([
    { fault: "cut" },
    { fault: "reset" },
    { fault: "dropped" },
    { status: 500, error: "injected" },
    { status: 429, error: "injected", headers: { "retry-after": "1" } },
    { delayMs: 4000 },
  ]);
}
