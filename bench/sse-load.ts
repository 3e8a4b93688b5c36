import { connect, type Socket } from "node:net";
import { serveCommands } from "./child.ts";
import { summarize } from "./statistics.ts";
import { tokenMark } from "./script.ts";

export type LoadInput = {
  readonly port: number;
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly streams: number;
  /** Each stream goes on to a next request until this time has passed; at least one each. */
  readonly milliseconds: number;
  /** Tokens that each answer must have; another number is an error. */
  readonly tokens: number;
  /** Ends after so many answers in all. */
  readonly requests?: number;
};

export type LoadResult = {
  readonly done: number;
  readonly events: number;
  readonly milliseconds: number;
  /** Milliseconds from the sent request to its first token. */
  readonly firstToken: { readonly median: number; readonly p95: number };
  /** When each request was sent, as milliseconds of the epoch, in order. */
  readonly sentAt: readonly number[];
};

type Answer = {
  readonly status: string;
  readonly events: number;
  readonly tokens: number;
  readonly firstTokenMs: number;
  /** The last of the answer, for errors. */
  readonly end: string;
};

const lastChunk = Buffer.from("0\r\n\r\n");
const mark = tokenMark.charCodeAt(0);

function count(bytes: Buffer, needle: number | string): number {
  let found = 0;
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) found++;
  return found;
}

/** One request on a kept-alive socket; no HTTP parser, so that the generator costs less than what it loads. */
function ask(socket: Socket, requestBytes: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let head: Buffer | undefined;
    let tail: Buffer = Buffer.alloc(0);
    let before: Buffer = tail;
    let events = 0;
    let tokens = 0;
    let firstTokenMs = 0;
    const finish = (): void => {
      socket.off("data", onData);
      socket.off("error", onError);
      socket.off("close", onClose);
    };
    const onError = (error: Error): void => (finish(), reject(error));
    const onClose = (): void =>
      onError(new Error(`the connection was closed after ${tokens} tokens: ${head?.toString().slice(0, 400)}`));
    const onData = (bytes: Buffer): void => {
      head ??= bytes;
      const previous = before;
      before = bytes;
      tokens += count(bytes, mark);
      events += count(bytes, "data:");
      if (firstTokenMs === 0 && tokens > 0) firstTokenMs = performance.now() - started;
      tail =
        bytes.length >= lastChunk.length
          ? bytes.subarray(-lastChunk.length)
          : Buffer.concat([tail, bytes]).subarray(-lastChunk.length);
      const status = head.subarray(9, 12).toString();
      if (!tail.equals(lastChunk) && status === "200") return;
      finish();
      resolve({ status, events, tokens, firstTokenMs, end: Buffer.concat([previous, bytes]).toString().slice(-900) });
    };
    socket.on("data", onData);
    socket.on("error", onError);
    socket.on("close", onClose);
    socket.write(requestBytes);
  });
}

async function load(input: LoadInput): Promise<LoadResult> {
  const body = JSON.stringify(input.body);
  const headers = Object.entries(input.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const requestBytes = Buffer.from(
    `POST ${input.path} HTTP/1.1\r\nhost: 127.0.0.1:${input.port}\r\ncontent-type: application/json\r\n${headers.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const firstTokens: number[] = [];
  const sentAt: number[] = [];
  const limit = input.requests ?? Infinity;
  let done = 0;
  let events = 0;
  const started = performance.now();
  const stream = async (): Promise<void> => {
    const socket = connect({ port: input.port, host: "127.0.0.1", noDelay: true });
    try {
      do {
        if (sentAt.length >= limit) return;
        sentAt.push(performance.timeOrigin + performance.now());
        const answer = await ask(socket, requestBytes);
        if (answer.status !== "200" || answer.tokens !== input.tokens) {
          throw new Error(
            `status ${answer.status}, ${answer.tokens} tokens instead of ${input.tokens}: …${answer.end}`,
          );
        }
        firstTokens.push(answer.firstTokenMs);
        events += answer.events;
        done++;
      } while (performance.now() - started < input.milliseconds);
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: input.streams }, stream));
  const milliseconds = performance.now() - started;
  const { median, p95 } = summarize(firstTokens);
  return { done, events, milliseconds, firstToken: { median, p95 }, sentAt };
}

serveCommands({ load });
