import { type InputRequest, inputRequired } from "@modelcontextprotocol/server";
import { type Decision, decisions, type ItemOf } from "../../protocol/items.ts";
import type { DecisionInput } from "../../run/runs.ts";
import { plainArguments } from "../question-view.ts";

type Question = ItemOf<"question">;
type Form = Extract<Parameters<typeof inputRequired.elicit>[0]["requestedSchema"], { readonly properties: object }>;

/** A question of a run as a form for the person at the client. */
export function elicitation({ body }: Question): InputRequest {
  const call = body.tool === undefined ? "" : `\n${body.tool} ${plainArguments(body.arguments ?? "")}`;
  return inputRequired.elicit({ message: `${body.text}${call}`, requestedSchema: formOf(body) });
}

function formOf({ reason, choices, schema }: Question["body"]): Form {
  if (reason !== "question")
    return {
      type: "object",
      properties: {
        decision: { type: "string", title: "Decision", enum: [...decisions[reason]] },
        text: { type: "string", title: "Reason, or what is known", maxLength: 2000 },
      },
      required: ["decision"],
    };
  // Whoever asks has seen to it that its form is as flat as a person can fill in.
  if (schema) return schema as Form;
  const answer = choices ? { enum: [...choices] } : { maxLength: 10_000 };
  return {
    type: "object",
    properties: { answer: { type: "string", title: "Answer", ...answer } },
    required: ["answer"],
  };
}

/** What the client's answer decides; undefined: nothing, the question stays open. The answer is the client's, unchecked. */
export function decisionOf({ body }: Question, answer: unknown): DecisionInput | undefined {
  if (typeof answer !== "object" || answer === null || !("action" in answer)) return undefined;
  const { action, content } = answer as { action: unknown; content?: unknown };
  const filled = (typeof content === "object" && content !== null ? content : {}) as Record<string, unknown>;
  const seen = body.argumentsHash === undefined ? {} : { argumentsHash: body.argumentsHash };
  // Declined is a no where there is one: an unknown outcome has none.
  if (action === "decline")
    return body.reason === "unknown" ? undefined : { decision: decisions[body.reason][1], ...seen };
  if (action !== "accept") return undefined;
  if (body.reason === "question") {
    if (body.schema) return { decision: "answer", arguments: JSON.stringify(filled) };
    return typeof filled["answer"] === "string" ? { decision: "answer", text: filled["answer"] } : undefined;
  }
  const possible: readonly Decision[] = decisions[body.reason];
  const decision = possible.find((name) => name === filled["decision"]);
  if (decision === undefined) return undefined;
  return { decision, ...(typeof filled["text"] === "string" && { text: filled["text"] }), ...seen };
}
