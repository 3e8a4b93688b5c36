import type { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";

export type FormField = { readonly type: "field"; readonly fieldname: string; readonly value: unknown };
export type FormFile = {
  readonly type: "file";
  readonly fieldname: string;
  readonly filename: string;
  /** To be read, or left, before the next part is asked for. */
  readonly bytes: AsyncIterable<Uint8Array>;
};

/** The parts of a form, in their order. A form that is broken or ends too early is InvalidInput `invalid_form`, also in `bytes`. */
export async function* formParts(request: FastifyRequest): AsyncGenerator<FormField | FormFile> {
  try {
    for await (const part of request.parts())
      if (part.type === "field") yield part;
      else {
        const { fieldname, filename, file } = part;
        yield { type: "file", fieldname, filename, bytes: bytesOf(file) };
        // Of a file that nobody wanted, else the next part would never come.
        file.resume();
      }
  } catch (error) {
    throw brokenForm(error);
  }
}

/** The files among them. */
export async function* formFiles(request: FastifyRequest): AsyncGenerator<FormFile> {
  for await (const part of formParts(request)) if (part.type === "file") yield part;
}

async function* bytesOf(file: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* file as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw brokenForm(error);
  }
}

/** Converts the parser's errors, which have no status. Errors with one come from the form's bounds or the connection. */
function brokenForm(error: unknown): unknown {
  if (error instanceof Error && ("statusCode" in error || "status" in error || "code" in error)) return error;
  return new InvalidInput(`The form is broken: ${messageOf(error)}. Send it as multipart/form-data with a boundary.`, {
    code: "invalid_form",
    cause: error,
  });
}
