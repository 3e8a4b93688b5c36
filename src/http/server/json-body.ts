import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest, FastifyReply } from "fastify";
import { mayHaveUnusualNumbers, parseExactly } from "../../protocol/base/exact-json.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { createJsonCount } from "../../protocol/base/json-bounds.ts";
import { configOf, fewBounds } from "./body-bounds.ts";
import { isOwnOrigin } from "./origins.ts";
import { createByteBuffer } from "../../protocol/base/byte-buffer.ts";

/** To decode and parse so much takes a third of a millisecond. */
const longBytes = 100_000;
/** Files per form. */
const maxFiles = 100;
/** Fields per form, besides files. */
const maxFormFields = 100;

/**
 * Bodies are JSON. curl's default content types are taken too, but not from pages of other origins: these types
 * are the ones a browser sends across origins without asking first.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  leaveUnreadBodies(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", async (request: FastifyRequest, payload: IncomingMessage) =>
    request.is404 ? undefined : readJson(request, payload),
  );
  app.addContentTypeParser(
    ["application/x-www-form-urlencoded", "text/plain"],
    async (request: FastifyRequest, payload: IncomingMessage) => {
      if (request.is404) return undefined;
      if (!isOwnOrigin(request))
        throw new InvalidInput("Send JSON with content-type application/json.", {
          code: "unsupported_media_type",
          status: 415,
        });
      return takesForm(request) ? parseForm(await readBody(request, payload)) : readJson(request, payload);
    },
  );
}

/**
 * For routes whose body is a file: nothing of it is read before the handler does. If the handler answers in the middle of it,
 * the rest is read and forgotten: a client that is still sending would not see the answer otherwise.
 */
export function acceptFiles(app: FastifyInstance, takesBody: "any" | "form"): void {
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", (request, reply, done) => {
    reply.raw.once("finish", () => {
      // Refused before: nothing more of it is taken.
      if (!request.getDecorator<boolean>("bodyBegun")) return;
      request.raw.unpipe();
      // Flows on with it when whoever was reading has let go.
      request.raw.on("data", () => {}).resume();
    });
    done();
  });
  if (takesBody === "form")
    void app.register(multipart, { limits: { fileSize: Infinity, files: maxFiles, fields: 10, fieldSize: 200_000 } });
  else
    app.addContentTypeParser("*", (_request, body, done) => {
      // Who lets go of this in the middle, also by an error, does not end the request and with it the connection.
      const file = body.pipe(new PassThrough());
      body.once("error", (error) => file.destroy(error));
      // Told to whoever reads it; who has not begun to, or has let go, does not hear it.
      file.on("error", () => {});
      done(null, file);
    });
}

/** Whether this request's body is a form, at a route that takes one. */
function takesForm(request: FastifyRequest): boolean {
  return configOf(request).takesForm === true && /form-urlencoded/i.test(request.headers["content-type"] ?? "");
}

function parseForm(body: Buffer): unknown {
  let fields = 1;
  for (let at = body.indexOf("&"); at !== -1 && fields <= maxFormFields; at = body.indexOf("&", at + 1)) fields++;
  if (fields > maxFormFields)
    throw new InvalidInput(`The form has more than ${maxFormFields} fields.`, {
      code: "body_too_complex",
      status: 413,
    });
  return Object.fromEntries(new URLSearchParams(body.toString()));
}

/** A long body takes several turns of the event loop: others are served between its decoding, its parsing and its use. */
async function readJson(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  const { bounds, keepsNumbers = false } = configOf(request);
  const body = await readBody(request, payload, createJsonCount(bounds));
  if (body.length === 0) return undefined;
  const turn = body.length < longBytes ? () => {} : () => nextTurn();
  await turn();
  const text = body.toString();
  await turn();
  const isExact = keepsNumbers && mayHaveUnusualNumbers(text);
  await turn();
  let value: unknown;
  try {
    // A body that may contain a call's arguments keeps its numbers as written.
    value = (isExact ? parseExactly : JSON.parse)(text);
  } catch (error) {
    throw new InvalidInput(`The body is not valid JSON${bodyPosition(error)}.`, { code: "invalid_json", cause: error });
  }
  await turn();
  return value;
}

/** Where the fault is, without the piece of the body that some of these messages show. */
function bodyPosition(error: unknown): string {
  const { message } = error as SyntaxError;
  const [, place] = /(at position \d+(?: \(line \d+ column \d+\))?)$/.exec(message) ?? [];
  if (place !== undefined) return `, ${place}`;
  return message.startsWith("Unexpected end") ? ": it ends too early" : "";
}

/** So much of a body that nobody wants is taken in and forgotten, so that the connection can be used again. */
const forgivenBytes = 16 * 1024;
/** Time for whoever is still sending to read that it is of no use. */
const lingerMs = 1000;
/** Node.js takes microseconds for each chunk, however small, and up to a second for all that it has read at once. */
const freePieces = 2000;
const leastPiece = 16;

/** The body, within the bound of its route. `look` sees each piece as it comes, and may refuse the body. */
async function readBody(
  request: FastifyRequest,
  payload: Readable,
  look: (piece: Buffer) => void = () => {},
): Promise<Buffer> {
  const { "content-length": said, "content-encoding": encoding = "identity" } = request.headers;
  const { bytes: most } = configOf(request).bounds ?? fewBounds;
  if (encoding !== "identity")
    throw new InvalidInput("Send the body without content-encoding.", {
      code: "unsupported_media_type",
      status: 415,
    });
  if (Number(said ?? 0) > most) throw tooLarge(most);
  const gathered = createByteBuffer(most, said === undefined ? undefined : Number(said));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let pieces = 0;
  const take = (piece: Buffer) => {
    try {
      look(piece);
      if (!gathered.add(piece)) throw tooLarge(most);
      if (++pieces > freePieces && gathered.length < pieces * leastPiece) throw tooFine();
    } catch (error) {
      payload.pause();
      reject(error);
    }
  };
  payload.on("data", take).on("end", resolve).on("error", reject);
  try {
    await promise;
  } finally {
    payload.off("data", take).off("end", resolve).off("error", reject);
  }
  const { buffer, byteOffset, length } = gathered.bytes;
  return Buffer.from(buffer, byteOffset, length);
}

function tooFine(): InvalidInput {
  return new InvalidInput("The body comes in chunks of a few bytes. Send larger ones, or its content-length.", {
    code: "body_too_fine",
  });
}

function tooLarge(most: number): InvalidInput {
  return new InvalidInput(`The body exceeds the limit of ${most} bytes for this route.`, {
    code: "body_too_large",
    status: 413,
  });
}

/**
 * Whoever is answered before their body has come, since they may not or since it is too much, is told that the connection
 * ends, and nothing more of the body is taken from it. A file's route reads on by itself once it has begun.
 */
function leaveUnreadBodies(app: FastifyInstance): void {
  app.decorateRequest("bodyBegun", false);
  app.addHook("preParsing", (request, _reply, _payload, done) => {
    if (configOf(request).takesFile === true) request.setDecorator("bodyBegun", true);
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (isLeft(request)) {
      reply.header("connection", "close");
      linger(reply);
    }
    done();
  });
}

function isLeft(request: FastifyRequest): boolean {
  const { raw, headers } = request;
  if (raw.complete || request.getDecorator<boolean>("bodyBegun")) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > forgivenBytes;
}

/**
 * Node.js closes the connection as soon as the answer is out. With bytes on it that nobody took that is a reset, which
 * throws away the answer before the client has read it.
 */
function linger({ request }: FastifyReply): void {
  const { socket } = request.raw;
  socket.destroySoon = () => {
    socket.end();
    // Once Node.js has set about reading the rest of the request.
    setImmediate(() => socket.pause());
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  };
}
