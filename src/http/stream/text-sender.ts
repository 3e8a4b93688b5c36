/**
 * Keeps what of a step's text was sent, for dialects that can't take text back: a new attempt may go on only where it
 * begins with that. Its functions give the text to send, undefined when the new text differs.
 */
export function createTextSender() {
  let step: string | undefined;
  let sent = "";
  let anything = false;

  const extend = (piece: string): string => {
    if (piece === "") return "";
    const apart = anything && sent === "" ? "\n\n" : "";
    sent += piece;
    anything = true;
    return apart + piece;
  };
  const enter = (name: string) => {
    if (name === step) return;
    step = name;
    sent = "";
  };
  return {
    hasBegun: (name: string) => name === step && sent !== "",
    delta(name: string, offset: number, piece: string): string | undefined {
      enter(name);
      const known = sent.length - offset;
      if (known <= 0) return extend(piece);
      return sent.startsWith(piece.slice(0, known), offset) ? extend(piece.slice(known)) : undefined;
    },
    whole(name: string, text: string): string | undefined {
      enter(name);
      return text.startsWith(sent) ? extend(text.slice(sent.length)) : undefined;
    },
    /** A paragraph of ours, on its own. */
    apart(text: string): string {
      enter("");
      sent = "";
      return extend(text);
    },
  };
}
