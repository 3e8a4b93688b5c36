import type { FastifySchemaCompiler } from "fastify";
import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { faultLine, schemaFaults } from "../../protocol/base/schema-faults.ts";

/** Validates a part of a request. The error describes the problems briefly, without the value. */
export const validatorCompiler: FastifySchemaCompiler<unknown> = ({ schema, httpPart = "request" }) => {
  if (!(schema instanceof z.ZodType)) throw new Error("A route's schema must be one of zod.");
  return (value: unknown) => {
    const { data, error } = schema.safeParse(value);
    return error ? { error: invalidInput(error, httpPart) } : { value: data };
  };
};

export function invalidInput(error: z.ZodError, whole: string): InvalidInput {
  const faults = schemaFaults(error);
  return new InvalidInput(faultLine(faults, whole), { param: faults[0]?.path || undefined });
}
