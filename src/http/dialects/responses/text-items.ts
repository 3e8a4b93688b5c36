import type { Citation } from "../../../protocol/knowledge/citations.ts";
import { annotationOf, messageItem, reasoningItem, textPart } from "./output-items.ts";
import { deltaHead } from "./event-writer.ts";
import type { OutputPlace, OutputWriter } from "./output-writer.ts";

/** What is said and thought, as items. Each function gives the events; only one item is open at a time. */
export type TextItems = {
  say(piece: string): string;
  think(piece: string): string;
  cite(citations: readonly Citation[]): string;
  /** Ends the open item, if there is one. */
  close(): string;
};

/**
 * Positions that the thoughts of one item take, however long they are: a step that is repeated thinks anew, so that what was told
 * live and what the log has differ in length, and all that follows must have its position nevertheless.
 */
const thoughtRoom = 100_000;

type OpenText = {
  readonly place: OutputPlace;
  readonly fields: string;
  /** Of the events of its pieces. */
  readonly head: string;
  text: string;
};
type OpenMessage = OpenText & { readonly type: "message"; readonly offset: number; readonly annotations: object[] };
type OpenThought = OpenText & { readonly type: "reasoning"; readonly from: number };

export function createTextItems(out: OutputWriter): TextItems {
  let open: OpenMessage | OpenThought | undefined;
  /** Characters of the answer so far, as its reader counts them. */
  let said = 0;

  function openMessage(offset: number): [OpenMessage, string] {
    const place = out.next("msg");
    const fields = `${place.fields},"content_index":0`;
    const events =
      out.added(place, messageItem(place.id, "in_progress")) +
      out.event("response.content_part.added", `${fields},"part":${JSON.stringify(textPart(""))}`);
    const head = deltaHead("response.output_text.delta", fields + `,"logprobs":[]`);
    return [{ type: "message", place, fields, head, text: "", offset, annotations: [] }, events];
  }

  function openThought(): [OpenThought, string] {
    const place = out.next("rs");
    const fields = `${place.fields},"summary_index":0`;
    const events =
      out.added(place, reasoningItem(place.id, "in_progress")) +
      out.event("response.reasoning_summary_part.added", `${fields},"part":{"type":"summary_text","text":""}`);
    const head = deltaHead("response.reasoning_summary_text.delta", fields);
    return [{ type: "reasoning", place, fields, head, text: "", from: out.position() }, events];
  }

  function closeMessage({ place, fields, text, annotations }: OpenMessage): string {
    return (
      out.event("response.output_text.done", `${fields},"text":${JSON.stringify(text)},"logprobs":[]`) +
      out.event("response.content_part.done", `${fields},"part":${JSON.stringify(textPart(text, annotations))}`) +
      out.done(place, messageItem(place.id, "completed", text, annotations))
    );
  }

  function closeThought({ place, fields, text, from }: OpenThought): string {
    if (out.isKept) out.moveTo(from + thoughtRoom);
    const whole = JSON.stringify(text);
    return (
      out.event("response.reasoning_summary_text.done", `${fields},"text":${whole}`) +
      out.event("response.reasoning_summary_part.done", `${fields},"part":{"type":"summary_text","text":${whole}}`) +
      out.done(place, reasoningItem(place.id, "completed", text))
    );
  }

  const close = () => {
    const last = open;
    open = undefined;
    if (!last) return "";
    return last.type === "message" ? closeMessage(last) : closeThought(last);
  };

  return {
    close,
    say(piece) {
      if (piece === "") return "";
      let fresh = piece;
      let events = "";
      if (open?.type !== "message") {
        // The reader parts what was said at different times by a blank line; here it is another item.
        const isApart = out.isKept && said > 0 && piece.startsWith("\n\n");
        if (isApart) fresh = piece.slice(2);
        events = close();
        const [message, begun] = openMessage(said + (isApart ? 2 : 0));
        open = message;
        events += begun;
      }
      said += piece.length;
      open.text += fresh;
      const told = out.delta(open.head, fresh);
      return events === "" ? told : events + told;
    },
    think(piece) {
      if (piece === "") return "";
      let events = "";
      if (open?.type !== "reasoning") {
        events = close();
        const [thought, begun] = openThought();
        open = thought;
        events += begun;
      }
      open.text += piece;
      return events + out.delta(open.head, piece, open.from + thoughtRoom - 1);
    },
    cite(citations) {
      if (open?.type !== "message") return "";
      const { annotations, fields, offset } = open;
      return citations
        .filter(({ start }) => start >= offset)
        .map((citation) => {
          const annotation = annotationOf(citation, offset);
          const index = annotations.push(annotation) - 1;
          return out.event(
            "response.output_text.annotation.added",
            `${fields},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`,
          );
        })
        .join("");
    },
  };
}
