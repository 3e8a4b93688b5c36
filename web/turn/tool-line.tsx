import { type ReactNode, useContext, useEffect, useState } from "react";
import { t } from "@lingui/core/macro";
import { PageLink } from "../parts/page-link.tsx";
import type { DisplayedCall, CallWithQuestion } from "./arrange-blocks.ts";
import { shortArguments, prettyJson, stateOfCall } from "./call-state.ts";
import { SourceList } from "../markdown/citation-chip.tsx";
import { formatJson } from "../parts/format-json.ts";
import { CodeText } from "../markdown/formatted.tsx";
import { LongText } from "../markdown/long-text.tsx";
import { Question } from "./question.tsx";
import { ElapsedTime } from "../conversation/elapsed-time.tsx";
import { TurnPlaceContext } from "./turn-place.ts";

/** What an agent did, in one quiet line; arguments, output and result on demand. It opens by itself when it asks something. */
export function ToolLine({ call, question, isHeld, isInGroup = false }: DisplayedCall) {
  const { name, run, result, output } = call;
  return (
    <CallDetails call={call} question={question} isHeld={isHeld} name={name} short={shortArguments(call.arguments)}>
      {!asks(question) && (
        <Part name={t`Arguments`}>
          <CodeText text={prettyJson(call.arguments).slice(0, maxArguments)} language="json" />
        </Part>
      )}
      {output !== "" && !isIn(output, result?.content) && (
        <Part name={t`Output`}>
          <LongText text={output} isLive={!result} name={t`Output`} />
        </Part>
      )}
      {result && (
        <Part name={t`Result`}>
          <LongText text={formatJson(result.content)} isLive={false} name={t`Result`} isError={result.isError} />
        </Part>
      )}
      {result && result.sources.length > 0 && (
        <Part name={t`Sources`}>
          <SourceList sources={result.sources.map((source, at) => ({ number: at + 1, source }))} />
        </Part>
      )}
      {call.kept !== undefined && <RunLink run={call.kept} text={t`Kept from the run this one was forked from`} />}
      {!isInGroup && run !== undefined && <RunLink run={run} />}
    </CallDetails>
  );
}

export function RunLink({ run, text = t`View run` }: { readonly run: string; readonly text?: string }) {
  return (
    <p>
      <PageLink to={`/runs/${run}`}>{text}</PageLink>
    </p>
  );
}

/** What was followed while it worked need not stand twice. */
function isIn(output: string, result = ""): boolean {
  return result.includes(output.trim());
}

const maxArguments = 20_000;

const heldState = { mark: "…", text: t`needs your approval`, tone: "text-muted" };

function asks(question: CallWithQuestion["question"]): boolean {
  return question !== undefined && question.decision === undefined;
}

type DetailsProps = CallWithQuestion & {
  readonly name: ReactNode;
  readonly short: string;
  readonly children: ReactNode;
  /** Opens it without being asked. */
  readonly isWanted?: boolean;
};

/** The line of a call; what is below it is there only while it is open. */
export function CallDetails({ call, question, isHeld = false, name, short, children, isWanted = false }: DetailsProps) {
  const { decide } = useContext(TurnPlaceContext);
  const isAsking = asks(question);
  const [isOpen, setOpen] = useState(isAsking || isWanted);
  useEffect(() => {
    if (isAsking || isWanted) setOpen(true);
  }, [isAsking, isWanted]);
  const { mark, text, tone } = isHeld ? heldState : stateOfCall(call, question);
  return (
    <details className="tool-line" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="font-mono whitespace-nowrap">{name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-muted">{short}</span>
        <span className={`whitespace-nowrap ${isAsking ? "text-warn" : tone}`}>
          <span aria-hidden>{isAsking ? "▲" : mark}</span> {isAsking ? t`needs your input` : text}
          {!call.result && !isAsking && !isHeld && <ElapsedTime since={call.startedAt} />}
        </span>
      </summary>
      {isOpen && (
        <div className="call-inside">
          {question && <Question question={question} onDecide={(input) => decide(question, input)} />}
          {children}
        </div>
      )}
    </details>
  );
}

export function Part({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section aria-label={name}>
      <h3 className="text-muted">{name}</h3>
      {children}
    </section>
  );
}
