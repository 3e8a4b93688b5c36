import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serveCommands } from "./child.ts";
import { parseScript, tokenText } from "./script.ts";

/**
 * A model server that speaks the OpenAI wire and does what the model's name says (script.ts), in a process of its own.
 * The round is read from the request: results of tools after the last message of the user.
 */
type ChatBody = {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_call_id?: string }[];
};

export type ModelServerStats = {
  readonly requests: number;
  readonly toolRounds: number;
  readonly answers: number;
  readonly wrongSums: number;
  /** Requests whose client went before the end. */
  readonly aborted: number;
  readonly refused: number;
  readonly lastError: string;
};

const stats = { requests: 0, toolRounds: 0, answers: 0, wrongSums: 0, aborted: 0, refused: 0, lastError: "" };
let arrivals: number[] = [];
let lastId = 0;

function chunk(id: string, choices: string, usage = ""): string {
  return `data: {"id":"${id}","object":"chat.completion.chunk","created":1700000000,"model":"bench","system_fingerprint":"fp","choices":[${choices}]${usage}}\n\n`;
}

function deltaChunk(id: string, delta: object, finish: string | null = null): string {
  return chunk(
    id,
    `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`,
  );
}

function closing(id: string, finish: string, tokens: number): string {
  const usage = `,"usage":{"prompt_tokens":10,"completion_tokens":${tokens},"total_tokens":${10 + tokens}}`;
  return deltaChunk(id, {}, finish) + chunk(id, "", usage) + "data: [DONE]\n\n";
}

type Frames = { readonly single: readonly Buffer[]; readonly whole: Buffer };

function frames(texts: readonly string[]): Frames {
  return { single: texts.map((text) => Buffer.from(text)), whole: Buffer.from(texts.join("")) };
}

const answers = new Map<number, Frames>();

/** Answers of one length are the same bytes, made once, so that the server costs next to nothing. */
function answerFrames(tokens: number): Frames {
  let made = answers.get(tokens);
  if (!made) {
    const texts = Array.from({ length: tokens }, (_, index) => deltaChunk("answer", { content: tokenText(index) }));
    const [first = "", ...rest] = texts;
    made = frames([
      deltaChunk("answer", { role: "assistant", content: "" }) + first,
      ...rest,
      closing("answer", "stop", tokens),
    ]);
    answers.set(tokens, made);
  }
  return made;
}

function callFrames(name: string, round: number, parallel: number): Frames {
  const id = `round-${++lastId}`;
  const texts = [deltaChunk(id, { role: "assistant", content: null })];
  for (let index = 0; index < parallel; index++) {
    const call = { index, id: `call_${lastId}_${index}`, type: "function", function: { name, arguments: "" } };
    const text = JSON.stringify({ a: round * 100 + index, b: 1000 });
    texts.push(deltaChunk(id, { tool_calls: [call] }));
    for (const piece of [text.slice(0, 5), text.slice(5)]) {
      texts.push(deltaChunk(id, { tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  return frames([...texts, closing(id, "tool_calls", 5)]);
}

type Paced = {
  readonly response: ServerResponse;
  readonly frames: readonly Buffer[];
  next: number;
  at: number;
  readonly delay: number;
};
const paced = new Set<Paced>();
let ticker: NodeJS.Timeout | undefined;

/** One timer for all streams: a timer each would cost the machine more than what is measured. */
function tick(): void {
  const now = performance.now();
  for (const stream of paced) {
    if (now < stream.at) continue;
    stream.response.write(stream.frames[stream.next++]);
    stream.at = Math.max(stream.at + stream.delay, now - 4 * stream.delay);
    if (stream.next < stream.frames.length) continue;
    paced.delete(stream);
    stream.response.end();
  }
  if (paced.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}

function send(response: ServerResponse, content: Frames, delay: number): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  if (delay === 0) {
    response.end(content.whole);
    return;
  }
  const stream: Paced = {
    response,
    frames: content.single,
    next: 1,
    at: performance.now() + delay * (0.5 + Math.random() / 2),
    delay,
  };
  response.on("close", () => {
    if (paced.delete(stream)) stats.aborted++;
  });
  response.write(content.single[0]);
  paced.add(stream);
  ticker ??= setInterval(tick, 2);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

function checkSums(results: ChatBody["messages"], round: number): void {
  results.forEach((result, index) => {
    const sum = round * 100 + index + 1000;
    if (JSON.stringify(result.content).includes(String(sum))) return;
    stats.wrongSums++;
    stats.lastError = `expected the sum ${sum}, got ${JSON.stringify(result.content)}`;
  });
}

function answer(body: ChatBody, response: ServerResponse): void {
  const { rounds, parallel, tokens, delay, writes } = parseScript(body.model);
  const results = body.messages
    .slice(body.messages.findLastIndex((message) => message.role === "user"))
    .filter((message) => message.role === "tool");
  const round = Math.floor(results.length / parallel);
  if (round > 0) checkSums(results.slice(-parallel), round - 1);
  if (body.stream !== true) throw new Error("only streams are scripted");
  if (round < rounds) {
    stats.toolRounds++;
    send(response, callFrames(writes ? "record_sum" : "add", round, parallel), delay);
  } else {
    stats.answers++;
    send(response, answerFrames(tokens), delay);
  }
}

const server = createServer((request, response) => {
  if (request.method === "GET") {
    sendJson(response, 200, { object: "list", data: [] });
    return;
  }
  // It is no Ollama.
  if (request.url === "/api/show") {
    sendJson(response, 404, {});
    return;
  }
  arrivals.push(performance.timeOrigin + performance.now());
  if (arrivals.length > 10_000) arrivals = arrivals.slice(-1000);
  stats.requests++;
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    try {
      answer(JSON.parse(Buffer.concat(parts).toString()) as ChatBody, response);
    } catch (error) {
      stats.refused++;
      stats.lastError = String(error);
      sendJson(response, 400, { error: { message: String(error), type: "invalid_request_error" } });
    }
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1");

serveCommands({
  url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  stats: (): ModelServerStats => stats,
  /** When the requests since the last question came, as milliseconds of the epoch. */
  takeArrivals: () => {
    const taken = arrivals;
    arrivals = [];
    return taken;
  },
});
