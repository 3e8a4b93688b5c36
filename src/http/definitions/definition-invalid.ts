import type { DefinitionProblem } from "../../protocol/definitions.ts";
import { InvalidInput } from "../../protocol/errors.ts";

/** All that is wrong with a definition, in one list. */
export function definitionInvalid(what: string, problems: readonly DefinitionProblem[]): InvalidInput {
  const lines = problems.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new InvalidInput(`${what} has ${count}:\n${lines.join("\n")}`, {
    code: "definition_invalid",
    status: 422,
    problems,
  });
}
