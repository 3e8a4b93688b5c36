import { createInterface } from "node:readline/promises";
import type { QuestionView } from "../protocol/threads/run-shapes.ts";
import type { DecisionInput } from "../client/decisions.ts";

/** Where a person sits: what they type, what they see, and what Ctrl+C means. */
export type Terminal = {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly interrupt: () => void;
};

/** What is asked, as lines for a person. */
export function describeQuestion({ reason, text, tool, arguments: given, choices, schema }: QuestionView): string {
  if (reason === "question") {
    const form = schema ? [`form: ${JSON.stringify(schema)}`] : [];
    return [text, ...(choices ?? []).map((choice) => `- ${choice}`), ...form].join("\n  ");
  }
  return tool === undefined ? text : `${text}\n  ${tool} ${given ?? ""}`;
}

/** The command that answers it, for whoever can't be asked here; of a model that is away, each with what it does. */
export function answerCommand({ id, reason, decisions }: QuestionView): string {
  const command = `./colloquy answer ${id}`;
  if (reason !== "provider") return `${command} ${decisions.join("|")}`;
  return [
    `${command} retry                 retry now`,
    `${command} model --text <name>   continue with another model`,
    `${command} stop                  end the run`,
  ].join("\n  ");
}

/** Asks until the answer makes sense. Undefined: the person went away, or stopped the run. */
export async function askPerson(question: QuestionView, terminal: Terminal): Promise<DecisionInput | undefined> {
  const lines = createInterface({ input: terminal.input, output: terminal.output });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  lines.once("SIGINT", () => {
    terminal.interrupt();
    lines.close();
  });
  const ask = async (prompt: string, proposal = "") => {
    const answer = lines.question(prompt, { signal: gone.signal });
    lines.write(proposal);
    return (await answer).trim();
  };
  try {
    terminal.output.write(`${describeQuestion(question)}\n`);
    for (;;) {
      const decision = await readDecision(question, ask);
      if (typeof decision !== "string") return decision;
      terminal.output.write(`${decision}\n`);
    }
  } catch (error) {
    if (gone.signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
  }
}

type AskPerson = (prompt: string, proposal?: string) => Promise<string>;

/** A text says what was wrong with the answer. */
async function readDecision(question: QuestionView, ask: AskPerson): Promise<DecisionInput | string> {
  switch (question.reason) {
    case "approval":
      return readApproval(question, ask);
    case "limit": {
      const letter = (await ask("continue? [y/n] ")).toLowerCase()[0];
      if (letter === "y") return { decision: "continue" };
      return letter === "n" ? { decision: "stop" } : "Enter y or n.";
    }
    case "question": {
      const text = await ask(question.schema ? "JSON (empty: decline): " : "answer (empty: decline): ");
      if (text === "") return { decision: "decline" };
      if (!question.schema) return { decision: "answer", text };
      return isJson(text) ? { decision: "answer", arguments: text } : "This is not valid JSON.";
    }
    case "provider": {
      const [word = "", ...name] = (await ask("retry [n]ow / model <name of another> / [e]nd: ")).split(/\s+/);
      const letter = word.toLowerCase()[0];
      if (letter === "n") return { decision: "retry" };
      if (letter === "e") return { decision: "stop" };
      if (letter === "m" && name.length > 0) return { decision: "model", text: name.join(" ") };
      return "Enter n, e, or model and a name.";
    }
    case "unknown": {
      const word = (await ask("Was it done? done / failed / retry: ")).toLowerCase();
      return word === "done" || word === "failed" || word === "retry"
        ? { decision: word }
        : "Enter done, failed or retry.";
    }
  }
}

async function readApproval(
  { arguments: given = "", argumentsHash, eachTime, receivers, outside }: QuestionView,
  ask: AskPerson,
): Promise<DecisionInput | string> {
  const seen = argumentsHash === undefined ? {} : { argumentsHash };
  const always = eachTime ? "" : " / [a]lways";
  const here = receivers ? ` / always allow ${receivers.join(", ").replaceAll("mcp:", "")} [h]ere` : "";
  const read = outside ? " / I have [r]ead this" : "";
  switch ((await ask(`allow? [y]es / [n]o / [e]dit${always}${here}${read}: `)).toLowerCase()[0]) {
    case "y":
      return { decision: "allow", ...seen };
    case "a":
      if (eachTime) return "This is asked every time.";
      return { decision: "allow", always: true, ...seen };
    case "h":
      return receivers ? { decision: "allow", here: true, ...seen } : "This question has no receiver to allow.";
    case "r":
      return outside ? { decision: "allow", read: true, ...seen } : "No external content was read.";
    case "n": {
      const text = await ask("reason (optional): ");
      return { decision: "deny", ...(text === "" ? {} : { text }) };
    }
    case "e": {
      const edited = await ask("arguments: ", given);
      return isJson(edited) ? { decision: "allow", arguments: edited, ...seen } : "This is not valid JSON.";
    }
    default:
      return "Enter y, n, e or a.";
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
