import { useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { ToolCallView } from "../../src/protocol/threads/run-shapes.ts";
import { parseExactly } from "../../src/protocol/base/exact-json.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import type { ListedTool } from "../../src/protocol/agents/tools-api.ts";
import { Question } from "../turn/question.tsx";
import { useAnswer } from "../parts/answers.ts";
import { Note } from "../parts/note.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { type FormDraft, draftOf, fieldsOf, readForm } from "../parts/forms/schema-fields.ts";
import { SchemaForm } from "../parts/forms/schema-form.tsx";
import { useQuery } from "../page/path.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { client } from "../page/server.ts";
import { follow } from "../stream/follow.ts";
import { RunState } from "../run-list/run-state.tsx";
import { runsInside } from "../run-list/runs-client.ts";

/** One tool alone: chosen, called with arguments of one's own, and what it answers. */
export function TryTool({ name }: { readonly name: string }) {
  const [search, setSearch] = useState("");
  const from = useQuery().get("from");
  const loaded = useAnswer(["tools"], (signal) => runsInside.tools(signal));
  const tools = loaded.data ?? [];
  const sought = search.toLowerCase();
  const found = tools.filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(sought));
  const tool = tools.find((one) => one.name === name);
  return (
    <>
      <p className="text-muted">{t`Calls a tool without a model. It uses your permissions, approvals and limits, and is a run like any other.`}</p>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p>{t`No tools available to you`}</p>}
      {tools.length > 0 && (
        <div className="try-tool">
          <nav aria-label={t`Tool`} className="grid content-start gap-2">
            <TextField label={t`Search tools`} type="search" value={search} onChange={setSearch} />
            <ul className="tool-choices">
              {found.map((one) => (
                <li key={one.name}>
                  <PageLink
                    to={`/runs?tool=${encodeURIComponent(one.name)}`}
                    look="tool-choice"
                    isCurrent={one === tool}
                  >
                    {one.name}
                  </PageLink>
                </li>
              ))}
            </ul>
          </nav>
          {tool &&
            (from === null ? (
              <OneTool key={tool.name} tool={tool} given={undefined} />
            ) : (
              <SameAgain key={`${tool.name} ${from}`} tool={tool} from={from} />
            ))}
        </div>
      )}
    </>
  );
}

/** With what a call of before was given. */
function SameAgain({ tool, from }: { readonly tool: ListedTool; readonly from: string }) {
  const before = useAnswer(["run", "arguments", from], (signal) => argumentsOf(from, signal));
  const isThere = before.data !== undefined || before.problem !== undefined;
  return isThere && <OneTool tool={tool} given={before.data} />;
}

/** An empty object where there are none. */
async function argumentsOf(from: string, signal: AbortSignal): Promise<unknown> {
  const { items } = await runsInside.details(from, undefined, signal);
  const call = items.find(({ kind }) => kind === "call");
  if (!call) return {};
  const item = await runsInside.item(from, call.id, signal);
  return item.kind === "call" ? parseExactly(item.body.arguments) : {};
}

function OneTool({ tool, given }: { readonly tool: ListedTool; readonly given: unknown }) {
  const [fields] = useState(() => fieldsOf(tool.parameters));
  const [draft, setDraft] = useState<FormDraft>(() => draftOf(fields, given));
  const [answer, setAnswer] = useState<ToolCallView>();
  // A call whose answer got lost is made again under its key: what it did is not done twice.
  const lost = useRef<{ readonly given: string; readonly key: string }>(undefined);
  const { value, problems } = readForm(fields, draft);
  const call = async () => {
    const given = JSON.stringify(value);
    if (lost.current?.given !== given) lost.current = { given, key: newId() };
    const answered = await client.callTool(tool.name, { arguments: value, idempotencyKey: lost.current.key });
    lost.current = undefined;
    setAnswer(answered);
  };
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] content-start gap-3" aria-label={tool.name}>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="font-mono">{tool.name}</h2>
        <span className="text-muted">{tool.effect === "write" ? t`makes changes` : t`read-only`}</span>
      </div>
      <p className="whitespace-pre-wrap">{tool.description}</p>
      {tool.unavailable !== undefined && <Note>{t`Not available here: ${{ why: tool.unavailable }}`}</Note>}
      <Form
        name={tool.name}
        submit={t({ context: "verb", message: `Call` })}
        onSubmit={async () => {
          setAnswer(undefined);
          await call();
        }}
      >
        {fields.length === 0 ? (
          <p className="basis-full text-muted">{t`No arguments`}</p>
        ) : (
          <SchemaForm fields={fields} draft={draft} onChange={setDraft} problems={problems} />
        )}
      </Form>
      {answer && <Answer answer={answer} onAnswer={setAnswer} />}
    </section>
  );
}

type AnswerProps = { readonly answer: ToolCallView; readonly onAnswer: (answer: ToolCallView) => void };

function Answer({ answer: { run, result, questions = [] }, onAnswer }: AnswerProps) {
  const following = useRef<AbortController>(undefined);
  useEffect(() => () => following.current?.abort(), []);
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-live="polite" aria-label={t`Result`}>
      <div className="flex flex-wrap items-baseline gap-3">
        <h3>{result?.isError ? t`Failed` : t`Result`}</h3>
        {/* The run did what it was asked; beside a call that failed that reads like its opposite. */}
        {(!result?.isError || run.status !== "done") && <RunState {...run} />}
        <PageLink to={`/runs/${run.id}`}>{t`View run`}</PageLink>
      </div>
      {questions.map(({ id, runId, threadId: _thread, decisions: _decisions, createdAt: _at, ...body }) => (
        <Question
          key={id}
          question={{ kind: "question", key: id, id, run: runId, body }}
          onDecide={async (input) => {
            await client.decide({ id, runId }, input);
            following.current = new AbortController();
            onAnswer(await afterDecision(run.id, following.current.signal));
          }}
        />
      ))}
      {result && (
        <>
          <pre tabIndex={0} aria-label={t`Result`} className={`run-text ${result.isError ? "text-bad" : ""}`}>
            {result.content}
          </pre>
          {result.data !== undefined && (
            <details>
              <summary>{t`Data`}</summary>
              <pre tabIndex={0} aria-label={t`Data`} className="run-text">
                {JSON.stringify(result.data, null, 2)}
              </pre>
            </details>
          )}
        </>
      )}
    </section>
  );
}

/** The same call once it has ended, or asks the next thing. */
async function afterDecision(runId: string, signal: AbortSignal): Promise<ToolCallView> {
  for await (const { event } of follow<RunEvent>({ of: "run", id: runId }, { signal })) {
    if (event.type === "call-end") {
      const { content, isError = false, data } = event.item.body;
      for await (const _ of follow({ of: "run", id: runId }, { signal }));
      return { run: await client.run(runId, signal), result: { content, isError, data } };
    }
    if (event.type === "run-wait") {
      const { questions, ...run } = await client.run(runId, signal);
      if (questions.length > 0) return { run, questions };
    }
    if (event.type === "run-end") break;
  }
  return { run: await client.run(runId, signal) };
}
