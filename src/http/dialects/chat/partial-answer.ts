/** Reads the answer out of a JSON action that is still being written, so that a page need not wait for its end. */
export type PartialAnswer = {
  /** Takes the next piece of the action; the piece of the answer in it. */
  feed(text: string): string;
  /** All of the answer so far. */
  answer(): string;
  /** Known when the answer begins, if it was written before. */
  thought(): string;
};

const finalAction = /"action"\s*:\s*"final"/;
const answerBegin = /"answer"\s*:\s*"/g;
const otherAction = /"action"\s*:\s*"(?!final")[^"]*"/;
const thoughtBefore = /"thought"\s*:\s*("(?:[^"\\]|\\.)*")/;
/** As far as a JSON string is complete: not its end, nor half an escape or half a character. */
const complete =
  /^(?:[^"\\\ud800-\udbff]|[\ud800-\udbff][\udc00-\udfff]|\\u(?!d[89ab])[\da-f]{4}|\\ud[89ab][\da-f]{2}\\u[\da-f]{4}|\\[^u])*/i;

/** What a model writes otherwise than expected is left to whoever has the whole. */
export function createPartialAnswer(): PartialAnswer {
  let before = "";
  let rest: string | undefined;
  let answer = "";
  let thought = "";
  let isOther = false;
  return {
    feed(text) {
      if (isOther) return "";
      if (rest === undefined) {
        before += text;
        // What is only thought may become long, and is not looked through again and again.
        if (!before.includes("{")) before = "";
        isOther = otherAction.test(before);
        if (isOther) return "";
        const action = finalAction.exec(before);
        if (!action) return "";
        answerBegin.lastIndex = action.index + action[0].length;
        if (!answerBegin.test(before)) return "";
        rest = before.slice(answerBegin.lastIndex);
        thought = unescaped(thoughtBefore.exec(before.slice(0, action.index))?.[1] ?? '""') ?? "";
      } else {
        rest += text;
      }
      const [written = ""] = complete.exec(rest) ?? [];
      const piece = unescaped(`"${written}"`) ?? "";
      // Nothing is read behind the string's end: the quote stays where it is.
      rest = rest.slice(written.length);
      answer += piece;
      return piece;
    },
    answer: () => answer,
    thought: () => thought,
  };
}

/** Undefined for what is no JSON string; line breaks as they are do no harm. */
function unescaped(string: string): string | undefined {
  try {
    return String(JSON.parse(string.replaceAll(/[\u0000-\u001f]/g, (control) => JSON.stringify(control).slice(1, -1))));
  } catch {
    return undefined;
  }
}
