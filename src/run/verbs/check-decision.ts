import { Conflict, InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import { inexactNumbers, parseExactly, toDoubles } from "../../protocol/base/exact-json.ts";
import { decisions, type Item, type ItemOf } from "../../protocol/threads/items.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";
import type { LockedRun } from "../lifecycle/locked-run.ts";
import { openQuestions } from "../log/questions.ts";
import type { RunDecision } from "../runs.ts";
import { schemaCheck } from "../text/json-schema.ts";

type OpenQuestion = ItemOf<"question">;

/** Whether a person may decide so on this question of a run. Throws Conflict or InvalidInput. */
export function checkDecision(
  run: Pick<LockedRun, "status" | "root">,
  items: readonly Item[],
  { question, input }: { question: OpenQuestion; input: RunDecision },
): void {
  if (!openQuestions(items).includes(question))
    throw new Conflict("This question has already been answered.", { code: "already_decided" });
  // One that asks its provider again by itself is decided about all the same.
  const asksAgain = run.status === "running" && question.body.reason === "provider" && !run.root;
  if (run.status !== "waiting" && !asksAgain)
    throw new Conflict(`The run is ${run.status}; it is not waiting for this.`, { code: "run_not_waiting" });
  const { reason, argumentsHash } = question.body;
  const possible: readonly string[] = decisions[reason];
  if (!possible.includes(input.decision))
    throw new InvalidInput(`This question takes ${possible.join(" or ")}.`, { param: "decision" });
  if (input.argumentsHash !== undefined && input.argumentsHash !== argumentsHash)
    throw new Conflict("The arguments have changed since you saw them.", { code: "arguments_changed" });
  if (input.decision !== "allow" && input.always !== undefined)
    throw new InvalidInput("always goes with allow only.", { param: "decision" });
  if (input.here && (input.decision !== "allow" || !question.body.receivers))
    throw new InvalidInput("here goes with allow, where the question names receivers.", { param: "here" });
  if (input.read && (input.decision !== "allow" || !question.body.outside))
    throw new InvalidInput("read goes with allow, where text from outside was read.", { param: "read" });
  if (input.decision !== "allow" && input.decision !== "answer" && input.arguments !== undefined)
    throw new InvalidInput("arguments go with allow and answer only.", { param: "decision" });
  if (input.decision === "answer") checkAnswer(question, input);
  // "Always" is about what was asked, which is not what the person let through here.
  if (input.arguments !== undefined && input.always !== undefined)
    throw new InvalidInput("Either other arguments or always, not both.", { param: "always" });
}

/** An answer is a text, one of the choices, or a form that was filled in as its schema says. */
function checkAnswer({ body }: OpenQuestion, { text, arguments: filled }: RunDecision): void {
  if (body.schema) {
    if (filled === undefined)
      throw new InvalidInput("The question has a form: send it filled in, as arguments.", { param: "arguments" });
    const problems = problemsIn(body.schema, filled);
    if (problems.length > 0)
      throw new InvalidInput(problems.join("; "), { code: "invalid_arguments", param: "arguments" });
  } else if (text === undefined || text.trim() === "") {
    throw new InvalidInput("The answer is missing: send it as text.", { param: "text" });
  } else if (body.choices && !body.choices.includes(text)) {
    throw new InvalidInput(`The answer must be one of ${body.choices.join(", ")}.`, { param: "text" });
  }
}

function problemsIn(schema: JsonSchema, filled: string): readonly string[] {
  try {
    const given = parseExactly(filled);
    // Told, not rounded: who asked reads doubles.
    const changed = inexactNumbers(given).map(
      ({ path, written }) => `${path}: ${written.slice(0, 60)} has more digits than can be kept`,
    );
    return changed.length > 0 ? changed.slice(0, 5) : schemaCheck(schema)(toDoubles(given));
  } catch (error) {
    return [messageOf(error)];
  }
}
