import { lazy, Suspense, useState } from "react";
import { t } from "@lingui/core/macro";
import type { BlockOf } from "../../src/client/conversation.ts";
import type { Decision } from "../../src/protocol/threads/items.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import { Problem } from "../parts/problem.tsx";
import { reasonOf } from "../page/server.ts";
import { Approval, questionText } from "./approval.tsx";
import { OutageChoices, outageText } from "./outage.tsx";

const outageDecisions = { retry: t`Retried.`, model: t`Switched to another model.`, stop: t`Run ended.` };

const decisionNames = {
  withdrawn: t`Asked again.`,
  allow: t`Allowed.`,
  deny: t`Denied.`,
  continue: t`Continued.`,
  stop: t`Run ended.`,
  done: t`Marked as done.`,
  failed: t`Marked as not done.`,
  retry: t`Run again.`,
  answer: t`Answered.`,
  decline: t`Declined.`,
  model: t`Switched to another model.`,
};

const QuestionForm = lazy(async () => ({ default: (await import("./question-form.tsx")).QuestionForm }));

type QuestionProps = {
  readonly question: BlockOf<"question">;
  readonly onDecide: (input: DecisionInput) => Promise<void>;
};

/** What an agent waits for, with its answers beside it. */
export function Question({ question, onDecide }: QuestionProps) {
  const { body, decision, isChanged = false } = question;
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  if (decision !== undefined)
    return (
      <p className="text-sm text-muted">
        <bdi>{body.outage ? `${outageText(body.outage)}.` : questionText(body)}</bdi>{" "}
        {body.reason === "provider"
          ? outageDecisions[decision as "retry"]
          : isChanged
            ? t`Allowed with edited arguments.`
            : decisionNames[decision]}
      </p>
    );

  function decide(input: DecisionInput): void {
    setBusy(true);
    setProblem(undefined);
    onDecide(input).catch((failed: unknown) => {
      setProblem(reasonOf(failed));
      setBusy(false);
    });
  }
  const choices = { isBusy, onDecide: decide };

  return (
    <section
      className="rounded-card border border-accent p-3"
      aria-label={body.outage ? t`waiting for the model` : t`needs your input`}
    >
      <p dir="auto" className="break-words whitespace-pre-wrap">
        {body.outage ? `${outageText(body.outage)}.` : questionText(body)}
      </p>
      {body.outage && (
        <details className="text-sm text-muted">
          <summary>{t`Error details`}</summary>
          <p dir="auto" className="break-words">
            {body.text}
          </p>
        </details>
      )}
      {body.outage && <OutageChoices question={question} outage={body.outage} {...choices} />}
      {body.reason === "approval" && <Approval key={body.argumentsHash} body={body} {...choices} />}
      {body.reason === "limit" && (
        <Choices main="continue" of={{ continue: t`Continue`, stop: t`End run` }} {...choices} />
      )}
      {body.reason === "unknown" && (
        <Choices of={{ done: t`Mark as done`, failed: t`Mark as not done`, retry: t`Run again` }} {...choices} />
      )}
      {body.reason === "question" &&
        (body.schema ? (
          <Suspense fallback={<p className="text-muted">{t`Loading…`}</p>}>
            <QuestionForm
              schema={body.schema}
              isBusy={isBusy}
              onAnswer={(filledIn) => decide({ decision: "answer", arguments: filledIn })}
              onDecline={() => decide({ decision: "decline" })}
            />
          </Suspense>
        ) : (
          <FreeAnswer choices={body.choices ?? []} {...choices} />
        ))}
      <Problem text={problem} />
    </section>
  );
}

type DecisionControls = { readonly isBusy: boolean; readonly onDecide: (input: DecisionInput) => void };
type DecisionChoicesProps = DecisionControls & {
  readonly of: Partial<Readonly<Record<Decision, string>>>;
  readonly main?: Decision;
};

function Choices({ of, main, isBusy, onDecide }: DecisionChoicesProps) {
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      {(Object.entries(of) as [Decision, string][]).map(([decision, text]) => (
        <button
          key={decision}
          type="button"
          className={decision === main ? "button-main" : "button"}
          disabled={isBusy}
          onClick={() => onDecide({ decision })}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

function FreeAnswer({ choices, isBusy, onDecide }: DecisionControls & { readonly choices: readonly string[] }) {
  const [text, setText] = useState("");
  return (
    <form
      className="mt-2 flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDecide({ decision: "answer", text });
      }}
    >
      {[...new Set(choices)].map((choice) => (
        <button
          key={choice}
          type="button"
          dir="auto"
          className="button"
          disabled={isBusy}
          onClick={() => onDecide({ decision: "answer", text: choice })}
        >
          {choice}
        </button>
      ))}
      <input
        dir="auto"
        className="field min-w-40 grow"
        aria-label={t`Answer`}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button-main" disabled={isBusy}>
        {t`Answer`}
      </button>
      <button type="button" className="button" disabled={isBusy} onClick={() => onDecide({ decision: "decline" })}>
        {t`Decline`}
      </button>
    </form>
  );
}
