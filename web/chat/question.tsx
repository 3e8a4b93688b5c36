import { useState } from "react";
import type { DecisionInput } from "../../src/client/questions.ts";
import type { BlockOf } from "../../src/client/conversation.ts";
import { reasonOf } from "../server.ts";
import { words } from "../words.ts";

type QuestionProps = {
  readonly question: BlockOf<"question">;
  readonly onDecide: (input: DecisionInput) => Promise<void>;
};

/** What an agent waits for, with its answers beside it. */
export function Question({ question, onDecide }: QuestionProps) {
  const { body, decision } = question;
  const [text, setText] = useState(body.reason === "approval" ? (body.arguments ?? "") : "");
  const [isEdited, setEdited] = useState(false);
  const [why, setWhy] = useState<string>();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  if (decision !== undefined)
    return (
      <p className="text-sm text-muted">
        {body.text} {words.decided(decision)}
      </p>
    );

  async function decide(input: DecisionInput): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await onDecide(input);
    } catch (failed) {
      setError(reasonOf(failed));
      setBusy(false);
    }
  }

  function allow(always: boolean): void {
    const changed = isEdited && text !== body.arguments;
    if (changed && !isJson(text)) return setError(words.badJson);
    void decide({
      decision: "allow",
      ...(changed ? { arguments: text } : {}),
      ...(always ? { always: true } : {}),
      ...(body.argumentsHash === undefined ? {} : { argumentsHash: body.argumentsHash }),
    });
  }

  return (
    <section className="rounded-card border border-accent p-3" aria-label={words.waiting}>
      <p>{body.text}</p>
      {body.reason === "approval" && (
        <>
          <label className="mt-2 block text-sm text-muted">
            {words.arguments}
            <textarea
              className="field w-full font-mono text-xs"
              rows={Math.min(10, text.split("\n").length + 1)}
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setEdited(true);
              }}
            />
          </label>
          <div className="mt-2 flex flex-wrap gap-2">
            <Choice main disabled={isBusy} onClick={() => allow(false)} text={words.allow} />
            {!isEdited && <Choice disabled={isBusy} onClick={() => allow(true)} text={words.always} />}
            {why === undefined ? (
              <Choice disabled={isBusy} onClick={() => setWhy("")} text={`${words.deny} …`} />
            ) : (
              <form
                className="flex grow gap-2"
                onSubmit={(event) => {
                  event.preventDefault();
                  void decide({ decision: "deny", ...(why === "" ? {} : { text: why }) });
                }}
              >
                <input
                  autoFocus
                  className="field grow"
                  aria-label={words.whyNot}
                  placeholder={words.whyNot}
                  value={why}
                  onChange={(event) => setWhy(event.target.value)}
                />
                <Choice disabled={isBusy} text={words.deny} />
              </form>
            )}
          </div>
        </>
      )}
      {body.reason === "limit" && (
        <div className="mt-2 flex gap-2">
          <Choice main disabled={isBusy} onClick={() => void decide({ decision: "continue" })} text={words.continue} />
          <Choice disabled={isBusy} onClick={() => void decide({ decision: "stop" })} text={words.end} />
        </div>
      )}
      {body.reason === "unknown" && (
        <div className="mt-2 flex flex-wrap gap-2">
          <Choice disabled={isBusy} onClick={() => void decide({ decision: "done" })} text={words.wasDone} />
          <Choice disabled={isBusy} onClick={() => void decide({ decision: "failed" })} text={words.wasNotDone} />
          <Choice disabled={isBusy} onClick={() => void decide({ decision: "retry" })} text={words.retry} />
        </div>
      )}
      {body.reason === "question" && (
        <form
          className="mt-2 flex flex-wrap gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (body.schema && !isJson(text)) return setError(words.badJson);
            void decide({ decision: "answer", ...(body.schema ? { arguments: text } : { text }) });
          }}
        >
          {body.choices?.map((choice) => (
            <Choice
              key={choice}
              disabled={isBusy}
              onClick={() => void decide({ decision: "answer", text: choice })}
              text={choice}
            />
          ))}
          <input
            className="field min-w-40 grow"
            aria-label={words.answer}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Choice main disabled={isBusy} text={words.answer} />
          <Choice disabled={isBusy} onClick={() => void decide({ decision: "decline" })} text={words.decline} />
        </form>
      )}
      {error !== undefined && (
        <p role="alert" className="mt-2 text-sm text-bad">
          {error}
        </p>
      )}
    </section>
  );
}

type ChoiceProps = {
  readonly text: string;
  readonly main?: boolean;
  readonly disabled: boolean;
  /** Absent: it sends its form. */
  readonly onClick?: () => void;
};

function Choice({ text, main = false, disabled, onClick }: ChoiceProps) {
  return (
    <button
      type={onClick ? "button" : "submit"}
      className={main ? "button-main" : "button"}
      disabled={disabled}
      onClick={onClick}
    >
      {text}
    </button>
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
