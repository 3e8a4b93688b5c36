import { useState } from "react";
import type { QuestionBody } from "../../src/protocol/threads/items.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import { words } from "../words/words.ts";
import { prettyJson } from "./call-state.ts";

type ApprovalProps = {
  readonly body: QuestionBody;
  readonly isBusy: boolean;
  readonly onDecide: (input: DecisionInput) => void;
};

/** Whether a call may be made, and with what: the arguments can be changed here. */
export function Approval({ body, isBusy, onDecide }: ApprovalProps) {
  const [given] = useState(() => prettyJson(body.arguments ?? ""));
  const [text, setText] = useState(given);
  const [why, setWhy] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const isChanged = text !== given;

  function allow(always: boolean): void {
    if (isChanged && !isJson(text)) return setProblem(words.badJson);
    setProblem(undefined);
    onDecide({
      decision: "allow",
      ...(isChanged ? { arguments: text } : {}),
      ...(always ? { always: true } : {}),
      ...(body.argumentsHash === undefined ? {} : { argumentsHash: body.argumentsHash }),
    });
  }

  return (
    <>
      {body.outside && body.outside.length > 0 && (
        <p className="mt-1 text-sm text-warn">
          <span aria-hidden>▲</span> {words.turn.outside(body.outside.join(", "))}
        </p>
      )}
      <label className="mt-2 block text-sm text-muted">
        {words.arguments}
        <textarea
          className="field w-full font-mono text-xs text-ink"
          rows={Math.min(12, text.split("\n").length)}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <button type="button" className="button-main" disabled={isBusy} onClick={() => allow(false)}>
          {words.allow}
        </button>
        {!isChanged && !body.eachTime && (
          <button type="button" className="button" disabled={isBusy} onClick={() => allow(true)}>
            {words.always}
          </button>
        )}
        {why === undefined ? (
          <button type="button" className="button" disabled={isBusy} onClick={() => setWhy("")}>
            {`${words.deny} …`}
          </button>
        ) : (
          <form
            className="flex grow gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              onDecide({ decision: "deny", ...(why === "" ? {} : { text: why }) });
            }}
          >
            <input
              autoFocus
              dir="auto"
              className="field min-w-0 grow"
              aria-label={words.whyNot}
              placeholder={words.whyNot}
              value={why}
              onChange={(event) => setWhy(event.target.value)}
            />
            <button type="submit" className="button" disabled={isBusy}>
              {words.deny}
            </button>
          </form>
        )}
      </div>
    </>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
