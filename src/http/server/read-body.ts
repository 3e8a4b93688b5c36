import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { gatherBytes } from "../../protocol/base/gathered-bytes.ts";
import { configOf, fewBounds } from "./body-bounds.ts";

/** So much of a body that nobody wants is taken in and forgotten, so that the connection can be used again. */
const forgivenBytes = 16 * 1024;
/** Time for whoever is still sending to read that it is of no use. */
const lingerMs = 1000;
/** Node.js takes microseconds for each chunk, however small, and up to a second for all that it has read at once. */
const freePieces = 2000;
const leastPiece = 16;

/** The body, within the bound of its route. `look` sees each piece as it comes, and may refuse the body. */
export async function readBody(
  request: FastifyRequest,
  payload: Readable,
  look: (piece: Buffer) => void = () => {},
): Promise<Buffer> {
  const { "content-length": said, "content-encoding": encoding = "identity" } = request.headers;
  const { bytes: most } = configOf(request).bounds ?? fewBounds;
  if (encoding !== "identity")
    throw new InvalidInput("Send the body as it is, without content-encoding.", {
      code: "unsupported_media_type",
      status: 415,
    });
  if (Number(said ?? 0) > most) throw tooLarge(most);
  const gathered = gatherBytes(most, said === undefined ? undefined : Number(said));
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
export function leaveUnreadBodies(app: FastifyInstance): void {
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
