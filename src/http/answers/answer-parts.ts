import type { Citation } from "../../protocol/knowledge/citations.ts";
import type { ModelPart } from "../../protocol/agents/models.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";

/** What an answer is made of, told in order: all that models give, and what only runs have. */
export type AnswerPart =
  | ModelPart
  /** What the text before it cites; the places are those in the whole answer. */
  | { readonly type: "citations"; readonly citations: readonly Citation[] }
  /** A tool of the server is run; a client must never try to run it. */
  | { readonly type: "tool-start"; readonly id: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: "tool-end";
      readonly id: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
    }
  /** The run waits for a person, and the answer ends. `text` says for what and where to answer, apart from what was said before. */
  | {
      readonly type: "wait";
      readonly run: string;
      readonly text: string;
      readonly questions: readonly ItemOf<"question">[];
    };
