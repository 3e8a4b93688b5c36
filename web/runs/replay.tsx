import { useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { isEnded } from "../../src/protocol/threads/runs.ts";
import { useMe } from "../page/me.ts";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { navigateUnlessLeft } from "../page/path.ts";
import { client } from "../page/server.ts";
import { runsInside } from "../run-list/runs-client.ts";
import type { TraceRow } from "./trace-rows.ts";

/** From this row on once more, as a new run that the page then shows; the first one stays as it is. */
export function Replay({ row, data }: { readonly row: TraceRow; readonly data: RunDetailsView }) {
  const { run } = data;
  const me = useMe();
  const item = row.output ?? row.input;
  const isOwn = me?.id === run.userId && run.parentRun === null && row.run.id === run.id;
  if (!isOwn || !item || row.kind === "wait" || row.kind === "end" || row.to === undefined) return null;
  if (run.agent.startsWith("tool:"))
    return row.kind === "call" ? (
      <div>
        <PageLink to={`/runs?tool=${encodeURIComponent(row.name)}&from=${run.id}`}>{t`Call this tool again`}</PageLink>
      </div>
    ) : null;
  return row.kind === "message" && item.facts["role"] === "user" ? (
    <FromMessage data={data} messageId={item.id} isCut={item.cut} text={item.text ?? ""} />
  ) : row.kind === "step" || row.kind === "call" ? (
    <>
      {item.step !== null && <ForkHere data={data} step={item.step} />}
      <FromStep data={data} itemId={item.id} />
    </>
  ) : null;
}

type FromMessageProps = {
  readonly data: RunDetailsView;
  readonly messageId: string;
  readonly text: string;
  readonly isCut: boolean;
};

function FromMessage({ data: { run }, messageId, text, isCut }: FromMessageProps) {
  const [typed, setTyped] = useState<string>();
  const isChanging = typed !== undefined;
  const begin = async () => {
    if (!isCut) return setTyped(text);
    const item = await runsInside.item(run.id, messageId);
    setTyped(item.kind === "message" && typeof item.body.content === "string" ? item.body.content : text);
  };
  return (
    <div className="grid gap-2">
      <h3>{t`Rerun from here`}</h3>
      <p className="text-muted">{t`Starts a new run in the same conversation; its answer appears beside the first. This run doesn't change.`}</p>
      <div className="flex flex-wrap gap-2">
        <Act
          isDisabled={!isEnded(run.status)}
          onAct={async () => {
            const leadOn = navigateUnlessLeft();
            const started = await client.answerAgain(run.threadId, { agent: run.agent, again: messageId });
            leadOn(`/runs/${started.id}`);
          }}
        >
          {t`Retry`}
        </Act>
        {!isChanging && <Act onAct={begin}>{`${t`Edit and send`} …`}</Act>}
      </div>
      {isChanging && (
        <MessageForm
          name={t`Edit and send`}
          text={typed}
          onChange={setTyped}
          onSend={(message) => client.startRun(run.threadId, { agent: run.agent, ...message, instead: messageId })}
        />
      )}
    </div>
  );
}

function FromStep({ data: { run }, itemId }: { readonly data: RunDetailsView; readonly itemId: string }) {
  // Made once, also where what is said in it has to be sent again.
  const copy = useRef<string>(undefined);
  const [typed, setTyped] = useState<string>();
  return (
    <div className="grid gap-2">
      <h3>{t`Rerun from here`}</h3>
      <p className="text-muted">{t`Copies the conversation up to and including this row, and starts a new run in the copy. This run doesn't change.`}</p>
      {typed === undefined ? (
        <div>
          <button type="button" className="button" onClick={() => setTyped("")}>
            {t`Continue from here`} …
          </button>
        </div>
      ) : (
        <MessageForm
          name={t`Continue from here`}
          text={typed}
          onChange={setTyped}
          onSend={async (message) => {
            copy.current ??= (await runsInside.fork(run.threadId, itemId)).id;
            return client.startRun(copy.current, { agent: run.agent, ...message });
          }}
        />
      )}
    </div>
  );
}

/** The same run from this step on, beside itself: what was called until then is kept, and not called again. */
function ForkHere({ data: { run }, step }: { readonly data: RunDetailsView; readonly step: string }) {
  const me = useMe();
  const [isChanging, setChanging] = useState(false);
  const [model, setModel] = useState("");
  const [instructions, setInstructions] = useState("");
  const sent = useRef<{ readonly asked: string; readonly key: string }>(undefined);
  const fork = async () => {
    const leadOn = navigateUnlessLeft();
    const change = {
      ...(model.trim() === "" ? {} : { model: model.trim() }),
      ...(instructions.trim() === "" ? {} : { instructions }),
    };
    const asked = JSON.stringify(change);
    if (sent.current?.asked !== asked) sent.current = { asked, key: newId() };
    leadOn(`/runs/${(await client.fork(run.id, { step, ...change, idempotencyKey: sent.current.key })).id}`);
    // To go back and fork once more is another fork.
    sent.current = undefined;
  };
  return (
    <div className="grid gap-2">
      <h3>{t`Fork from here`}</h3>
      <p className="text-muted">{t`Starts a new run that begins with this run's steps up to and including this one. Their calls are kept and not repeated. This run doesn't change.`}</p>
      {isChanging ? (
        <Form name={t`Fork from here`} submit={t`Fork from here`} onSubmit={fork}>
          <label className="grid basis-full gap-1 text-muted">
            {t`Model (empty: the same)`}
            <input className="field text-ink" value={model} onChange={(event) => setModel(event.target.value)} />
          </label>
          {me?.role === "admin" && (
            <label className="grid basis-full gap-1 text-muted">
              {t`Agent instructions (empty: the same)`}
              <textarea
                className="field w-full text-ink"
                value={instructions}
                onChange={(event) => setInstructions(event.target.value)}
              />
            </label>
          )}
        </Form>
      ) : (
        <div className="flex flex-wrap gap-2">
          <Act isDisabled={!isEnded(run.status)} onAct={fork}>
            {t`Fork from here`}
          </Act>
          <button type="button" className="button" onClick={() => setChanging(true)}>
            {t`Fork with changes`} …
          </button>
        </div>
      )}
    </div>
  );
}

type MessageFormProps = {
  readonly name: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onSend: (message: {
    readonly content: string;
    readonly messageId: string;
  }) => Promise<{ readonly id: string }>;
};

function MessageForm({ name, text, onChange, onSend }: MessageFormProps) {
  // The same words again are the same message: what did arrive is not done twice.
  const sent = useRef<{ readonly content: string; readonly messageId: string }>(undefined);
  return (
    <Form
      name={name}
      submit={name}
      onSubmit={async () => {
        const leadOn = navigateUnlessLeft();
        if (sent.current?.content !== text) sent.current = { content: text, messageId: newId() };
        leadOn(`/runs/${(await onSend(sent.current)).id}`);
      }}
    >
      <label className="grid basis-full gap-1 text-muted">
        {t`Message`}
        <textarea
          autoFocus
          required
          className="field w-full text-ink"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
    </Form>
  );
}
