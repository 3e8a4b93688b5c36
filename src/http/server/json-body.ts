import { PassThrough } from "node:stream";
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseExactly } from "../../protocol/base/exact-json.ts";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import { checkJsonBounds } from "./json-bounds.ts";
import { isOwnOrigin } from "./origins.ts";

/** Of one form. */
const mostFiles = 100;
/** Of a form that is no file's. */
const mostFormFields = 100;

/**
 * Bodies are JSON. curl's default content types are taken too, but not from pages of other origins: these types
 * are the ones a browser sends across origins without asking first.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, parseJson);
  app.addContentTypeParser<Buffer>(
    ["application/x-www-form-urlencoded", "text/plain"],
    { parseAs: "buffer" },
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
 * For routes whose body is a file: nothing of it is read before the handler does. If the handler answers in the middle of it,
 * the rest is read and forgotten: a client that is still sending would not see the answer otherwise.
 */
export function acceptFiles(app: FastifyInstance, takesBody: "any" | "form"): void {
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", (request, reply, done) => {
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
function takesForm({ routeOptions, headers }: FastifyRequest): boolean {
  const { takesForm: isTaken } = routeOptions.config as { readonly takesForm?: boolean };
  return isTaken === true && /form-urlencoded/i.test(headers["content-type"] ?? "");
}

/** Whether what this request asks for may hold a call's arguments. */
function keepsNumbers({ routeOptions }: FastifyRequest): boolean {
  return (routeOptions.config as { readonly keepsNumbers?: boolean }).keepsNumbers === true;
}

function parseForm(_request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void): void {
  let fields = 1;
  for (let at = body.indexOf("&"); at !== -1 && fields <= mostFormFields; at = body.indexOf("&", at + 1)) fields++;
  if (fields > mostFormFields)
    return done(
      new InvalidInput(`The form has more than ${mostFormFields} fields.`, { code: "body_too_complex", status: 413 }),
    );
  done(null, Object.fromEntries(new URLSearchParams(body.toString())));
}

function parseJson(request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void): void {
  if (body.length === 0) return done(null, undefined);
  let value: unknown;
  try {
    checkJsonBounds(body);
    value = (keepsNumbers(request) ? parseExactly : JSON.parse)(body.toString());
  } catch (error) {
    if (error instanceof InvalidInput) return done(error);
    return done(
      new InvalidInput(`The body is not valid JSON: ${messageOf(error)}`, { code: "invalid_json", cause: error }),
    );
  }
  done(null, value);
}
