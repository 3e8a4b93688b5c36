import { type ReactNode, useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { TracedItem, TracedModelCall } from "../../src/protocol/threads/run-trace.ts";
import type { PromptMessage, StepPrompt as StepPromptView } from "../../src/protocol/threads/step-prompt.ts";
import { figure } from "../parts/format.ts";
import { formatJson } from "../parts/format-json.ts";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { runsInside } from "../run-list/runs-client.ts";
import { CopyJson } from "./copy-json.tsx";
import "./step-prompt.css";

export const roleNames = { system: t`System`, user: t`User`, assistant: t`Assistant`, tool: t`Tool` };

const gaps: Readonly<Record<StepPromptView["unsure"][number], string>> = {
  step: t`How this step was asked isn't in the log, so its messages can't be shown.`,
  model: t`The model isn't available any more. Where its prompts were shortened isn't known.`,
  window: t`The provider rejected a longer prompt, so the one it answered was shorter.`,
  time: t`It includes the time, which is the current time here.`,
  erased: t`Parts of it have been deleted since.`,
};

/** Of a long conversation, messages shown at first: the first ones and the last ones. */
const shownFirst = 2;
const shownLast = 6;

type StepPromptProps = { readonly runId: string; readonly step: string; readonly call: TracedModelCall | undefined };

/** What a step asked its model: messages, tools, parameters. Built again by the server, which says what it is not sure of. */
export function StepPrompt({ runId, step, call }: StepPromptProps) {
  const [isWhole, setWhole] = useState(false);
  const [hasAll, setAll] = useState(false);
  const loaded = useAnswer(["prompt", runId, step, isWhole], (signal) =>
    runsInside.prompt(runId, step, isWhole, signal),
  );
  const { data } = loaded;
  if (!data) return <Waiting of={loaded} />;
  const { messages, tools, unsure } = data;
  const between =
    hasAll || messages.length <= shownFirst + shownLast + 2 ? 0 : messages.length - shownFirst - shownLast;
  const line = (message: PromptMessage, at: number) => (
    <Message key={at} message={message} onWhole={() => setWhole(true)} />
  );
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label={t`Prompt`}>
      <div className="flex flex-wrap items-center gap-x-3">
        <h3>{t`Prompt`}</h3>
        <CopyJson load={() => runsInside.prompt(runId, step, true)} />
      </div>
      {unsure.map((gap) => (
        <p key={gap} className="text-muted">
          {gaps[gap]}
        </p>
      ))}
      {messages.length > 0 && (
        <ol className="prompt">
          {messages.slice(0, between > 0 ? shownFirst : undefined).map(line)}
          {between > 0 && (
            <li>
              <button type="button" className="button" onClick={() => setAll(true)}>
                {plural({ count: between }, { one: "Show # more message", other: "Show # more messages" })}
              </button>
            </li>
          )}
          {between > 0 &&
            messages.slice(-shownLast).map((message, at) => line(message, messages.length - shownLast + at))}
        </ol>
      )}
      {tools.length > 0 && (
        <details>
          <summary>{plural({ count: tools.length }, { one: "# tool offered", other: "# tools offered" })}</summary>
          <ul className="prompt">
            {tools.map(({ name, description, parameters }) => (
              <li key={name} className="prompt-message">
                <span className="font-mono font-semibold">{name}</span>
                <Folded text={description} />
                <details>
                  <summary>{t`Input schema`}</summary>
                  <pre tabIndex={0} className="run-text" aria-label={`${t`Input schema`}: ${name}`}>
                    {JSON.stringify(parameters, null, 2)}
                  </pre>
                </details>
              </li>
            ))}
          </ul>
        </details>
      )}
      <Parameters prompt={data} call={call} />
    </section>
  );
}

function Parameters({ prompt, call }: { readonly prompt: StepPromptView; readonly call: TracedModelCall | undefined }) {
  const { temperature, maxTokens, ...rest } = prompt.settings;
  const facts: [string, ReactNode][] = [
    [t`Model`, call?.model],
    [t`Temperature`, temperature === undefined ? t`the model's own` : figure(temperature)],
    [t`Longest answer, in tokens`, maxTokens === undefined ? t`the model's own` : figure(maxTokens)],
    [t`Tool choice`, prompt.toolChoice],
    [t`Format`, prompt.format?.type],
    ...Object.entries(rest).map(([name, value]): [string, ReactNode] => [
      name,
      typeof value === "number" ? figure(value) : JSON.stringify(value),
    ]),
  ];
  return (
    <dl className="run-facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

type MessageProps = { readonly message: PromptMessage; readonly onWhole: () => void };

function Message({ message, onWhole }: MessageProps) {
  const { role, name, text, length, calls = [], reasoning, pictures = 0, isError } = message;
  return (
    <li className="prompt-message" data-role={role}>
      <p className="flex flex-wrap gap-x-2">
        <span className="font-semibold">{roleNames[role]}</span>
        {name !== undefined && <span className="font-mono">{name}</span>}
        {isError && <span className="text-bad">{t`failed`}</span>}
        {length > 0 && (
          <span className="text-muted">{plural({ length }, { one: "# character", other: "# characters" })}</span>
        )}
      </p>
      {reasoning && (
        <details>
          <summary>{t`Reasoning`}</summary>
          <Folded text={reasoning.text ?? ""} length={reasoning.length} onWhole={onWhole} />
        </details>
      )}
      {text === null ? (
        <p className="text-muted">{t`Only admins can see this text.`}</p>
      ) : (
        <Folded text={text} length={length} onWhole={onWhole} />
      )}
      {pictures > 0 && <p className="text-muted">{plural({ pictures }, { one: "# picture", other: "# pictures" })}</p>}
      {calls.map((call) => (
        <CallText key={call.id} name={call.name} text={call.text ?? ""} length={call.length} onWhole={onWhole} />
      ))}
    </li>
  );
}

type FoldedProps = {
  readonly text: string;
  /** Of the whole text, if this may be its beginning; the rest comes when it is asked for. */
  readonly length?: number;
  readonly onWhole?: () => void;
};

/** Characters and lines of a text that are shown before somebody asks for all of it. */
const foldedCharacters = 600;
const foldedLines = 12;

function Folded({ text, length = text.length, onWhole }: FoldedProps) {
  const [isOpen, setOpen] = useState(false);
  if (text === "") return null;
  const beginning = text.split("\n", foldedLines).join("\n").slice(0, foldedCharacters).toWellFormed();
  const isFolded = !isOpen && beginning.length < length;
  return (
    <>
      <p dir="auto" className="prompt-text">
        {isFolded ? `${beginning} …` : text}
        {isOpen && text.length < length && " …"}
      </p>
      {(isFolded || (isOpen && length > foldedCharacters)) && (
        <div>
          <button
            type="button"
            className="button"
            aria-expanded={isOpen}
            onClick={() => {
              setOpen(!isOpen);
              if (!isOpen && text.length < length) onWhole?.();
            }}
          >
            {isOpen ? t`Show less` : t`Show all`}
          </button>
        </div>
      )}
    </>
  );
}

type CallTextProps = Required<FoldedProps> & { readonly name: string };

function CallText({ name, text, length, onWhole }: CallTextProps) {
  return (
    <div className="prompt-call">
      <span className="font-mono">{name}</span>
      <Folded
        text={text.length === length ? formatJson(text) : text}
        onWhole={onWhole}
        {...(text.length < length && { length })}
      />
    </div>
  );
}

/** What a step asked for in its answer. */
export function AnswerCalls({ calls }: { readonly calls: readonly TracedItem[] }) {
  if (calls.length === 0) return null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <h3>{t`Calls`}</h3>
      {calls.map(({ id, facts, text }) => (
        <div key={id} className="prompt-call">
          <span className="font-mono">{String(facts["name"])}</span>
          <p dir="auto" className="prompt-text">
            {formatJson(text ?? "")}
          </p>
        </div>
      ))}
    </div>
  );
}
