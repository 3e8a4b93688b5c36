import type { FastifyInstance, FastifyRequest } from "fastify";
import { InvalidInput, messageOf } from "../protocol/errors.ts";
import { isOwnOrigin } from "./origins.ts";

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
      if (isOwnOrigin(request)) return parseJson(request, body, done);
      done(
        new InvalidInput("Send JSON with content-type application/json.", {
          code: "unsupported_media_type",
          status: 415,
        }),
      );
    },
  );
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
