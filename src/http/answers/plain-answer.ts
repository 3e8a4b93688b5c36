import type { ModelPart } from "../../protocol/agents/models.ts";
import type { AnswerPart } from "./answer-parts.ts";

type PlainPart = ModelPart | Extract<AnswerPart, { type: "citations" }>;

/** Characters of a tool's result that the trace shows. */
const traceLimit = 2000;

/**
 * Tells an answer to a protocol that knows only text, thoughts and the client's own calls: the server's tools are traced in the
 * thoughts, and what a run waits for is text. What was thought at different times is parted by a blank line.
 */
export function createPlainAnswer(): (parts: readonly AnswerPart[]) => readonly PlainPart[] {
  let thoughts = "";
  let last: AnswerPart["type"] | undefined;
  let lastTool = "";

  const think = (text: string): PlainPart => {
    thoughts = text;
    return { type: "reasoning", text };
  };
  const trace = (line: string) => think((thoughts === "" || thoughts.endsWith("\n") ? "" : "\n") + line + "\n");
  const parted = (text: string) => {
    if (thoughts === "" || last === "reasoning") return text;
    return (thoughts.endsWith("\n") ? "\n" : "\n\n") + text;
  };

  const plain = (part: AnswerPart): PlainPart => {
    switch (part.type) {
      case "reasoning":
        return think(parted(part.text));
      case "tool-start":
        lastTool = part.id;
        return trace(`${part.name} ${part.arguments}`);
      case "tool-end":
        // Results of parallel calls come after all of the calls: they say whose they are.
        return trace(`${part.id === lastTool ? "" : part.name + " "}→ ${shorten(part.content)}`);
      case "wait":
        return { type: "text", text: part.text };
      default:
        return part;
    }
  };
  return (parts) =>
    parts.map((part) => {
      const told = plain(part);
      last = part.type;
      return told;
    });
}

function shorten(content: string): string {
  return content.length > traceLimit ? content.slice(0, traceLimit) + " …" : content;
}
