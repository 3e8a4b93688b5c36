import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Body, ServerAnswer, WireFormat } from "./answers.ts";

type Sending = { readonly wire: WireFormat; readonly body: Body };

/** Writes one answer the way it asks to be written, with its fault. */
export async function sendAnswer(
  response: ServerResponse,
  answer: ServerAnswer,
  { wire, body }: Sending,
): Promise<void> {
  if (answer.fault === "silent") return;
  if (answer.fault === "dropped") return void response.destroy();
  if (answer.delayMs) await sleep(answer.delayMs);
  if (answer.raw !== undefined) {
    response.writeHead(answer.status ?? 200, { "content-type": wire.contentType, ...answer.headers });
    return writeAll(response, Buffer.from(answer.raw), answer);
  }
  if (answer.status !== undefined) {
    return writeJson(response, answer.status, wire.errorBody(answer.status, answer.error ?? "it failed"), answer);
  }
  if (!wire.streams(body)) return writeJson(response, 200, wire.whole(answer, body), answer);

  response.writeHead(200, { "content-type": wire.contentType, ...answer.headers });
  const { said, finish, mark } = wire.frames(answer, body);
  await write(response, said, answer);
  switch (answer.fault) {
    case "cut":
      return void response.end();
    case "reset":
      // What was written must arrive before the end of the socket does.
      await sleep(20);
      return void response.destroy();
    case "error":
      await write(response, [wire.errorFrame(answer.error ?? "it broke")], answer);
      return void response.end();
    case "garbage":
      await write(response, ["data: {not json\n\n{not json either\n"], answer);
      return void response.end();
    case "hang":
      return;
    case "no-end-mark":
      await write(response, finish, answer);
      return void response.end();
    default:
      await write(response, [...finish, ...mark], answer);
      response.end();
  }
}

async function write(response: ServerResponse, frames: readonly string[], answer: ServerAnswer): Promise<void> {
  const texts = answer.newline ? frames.map((frame) => frame.replaceAll("\n", answer.newline!)) : frames;
  if (answer.write === undefined || answer.write === "frame") {
    for (const text of texts) {
      if (response.destroyed) return;
      response.write(text);
      await pause(answer);
    }
  } else await writePieces(response, Buffer.from(texts.join("")), answer);
}

async function writeAll(response: ServerResponse, bytes: Buffer, answer: ServerAnswer): Promise<void> {
  await writePieces(response, bytes, answer);
  response.end();
}

async function writePieces(response: ServerResponse, bytes: Buffer, answer: ServerAnswer): Promise<void> {
  const size = typeof answer.write === "number" ? answer.write : Math.max(1, bytes.length);
  for (let at = 0; at < bytes.length; at += size) {
    if (response.destroyed) return;
    response.write(bytes.subarray(at, at + size));
    await pause(answer);
  }
}

/** Lets the write leave on its own. */
async function pause(answer: ServerAnswer): Promise<void> {
  if (answer.paceMs) await sleep(answer.paceMs);
  else if (answer.write !== "all") await new Promise((resolve) => setImmediate(resolve));
}

function writeJson(response: ServerResponse, status: number, body: object, answer: ServerAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...answer.headers }).end(JSON.stringify(body));
}
