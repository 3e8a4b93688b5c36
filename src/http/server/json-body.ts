import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { InvalidInput, messageOf } from "../protocol/errors.ts";
import { isOwnOrigin } from "./origins.ts";

/** Of one form. */
const mostFiles = 100;

/**
 * Bodies are JSON. curl's default content types are taken too, but not from pages of other origins: these types
 * are the ones a browser sends across origins without asking first.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, parseJson);
  app.addContentTypeParser<string>(
    ["application/x-www-form-urlencoded", "text/plain"],
    { parseAs: "string" },
    (request, body, done) => {
      if (isOwnOrigin(request)) return (takesForm(request) ? parseForm : parseJson)(request, body, done);
      done(
        new InvalidInput("Send JSON with content-type application/json.", {
          code: "unsupported_media_type",
          status: 415,
        }),
      );
    },
  );
}

/**
 * For routes whose body is a file: nothing of it is read before the handler does. If the handler refuses it in the middle,
 * the rest is read and forgotten: a client that is still sending would not see the answer otherwise.
 */
export function acceptFiles(app: FastifyInstance, takesBody: "any" | "form"): void {
  app.removeAllContentTypeParsers();
  app.addHook("onError", (request, reply, _error, done) => {
    reply.raw.once("finish", () => {
      request.raw.unpipe();
      // Flows on with it when whoever was reading has let go.
      request.raw.on("data", () => {}).resume();
    });
    done();
  });
  if (takesBody === "form")
    void app.register(multipart, { limits: { fileSize: Infinity, files: mostFiles, fields: 10, fieldSize: 200_000 } });
  else
    app.addContentTypeParser("*", (_request, body, done) =>
      done(null, Readable.from(chunksOf(body), { objectMode: false })),
    );
}

/** Who lets go of this in the middle, also by an error, does not end the request and with it the connection. */
async function* chunksOf(body: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const chunk of body.iterator({ destroyOnReturn: false })) yield chunk;
}

/** Whether this request's body is a form, at a route that takes one. */
function takesForm({ routeOptions, headers }: FastifyRequest): boolean {
  const { takesForm: isTaken } = routeOptions.config as { readonly takesForm?: boolean };
  return isTaken === true && /form-urlencoded/i.test(headers["content-type"] ?? "");
}

function parseForm(_request: FastifyRequest, body: string, done: (error: null, value: unknown) => void): void {
  done(null, Object.fromEntries(new URLSearchParams(body)));
}

function parseJson(_request: FastifyRequest, body: string, done: (error: Error | null, value?: unknown) => void): void {
  if (body === "") return done(null, undefined);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return done(
      new InvalidInput(`The body is not valid JSON: ${messageOf(error)}`, { code: "invalid_json", cause: error }),
    );
  }
  if (isDeeper(value, deepest))
    return done(
      new InvalidInput(`The body's arrays and objects stand in one another more than ${deepest} deep.`, {
        code: "body_too_deep",
      }),
    );
  done(null, value);
}

/** Far more than anybody means, far less than makes the recursion of whoever reads the body overflow. */
const deepest = 200;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
