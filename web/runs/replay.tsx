import { useRef, useState } from "react";
import type { RunDetailsView } from "../../src/protocol/run-trace.ts";
import { newId } from "../../src/protocol/ids.ts";
import { isEnded } from "../../src/protocol/runs.ts";
import { useMe } from "../me.ts";
import { Act, Form, PageLink } from "../parts/parts.tsx";
import { fromHere } from "../path.ts";
import { client } from "../server.ts";
import { runsInside } from "./runs-client.ts";
import { runsWords } from "./runs-words.ts";
import type { TraceRow } from "./trace-rows.ts";

const texts = runsWords.again;

/** From this row on once more, as a new run that the page then shows; the first one stays as it is. */
export function RunAgain({ row, data }: { readonly row: TraceRow; readonly data: RunDetailsView }) {
  const { run } = data;
  const me = useMe();
  const item = row.output ?? row.input;
  const isOwn = me?.id === run.userId && run.parentRun === null && row.run.id === run.id;
  if (!isOwn || !item || row.kind === "wait" || row.kind === "end" || row.to === undefined) return null;
  if (run.agent.startsWith("tool:"))
    return row.kind === "call" ? (
      <div>
        <PageLink to={`/runs?tool=${encodeURIComponent(row.name)}&from=${run.id}`}>{texts.callAgain}</PageLink>
      </div>
    ) : null;
  return row.kind === "message" && item.facts["role"] === "user" ? (
    <FromMessage data={data} messageId={item.id} isCut={item.cut} text={item.text ?? ""} />
  ) : row.kind === "step" || row.kind === "call" ? (
    <FromStep data={data} itemId={item.id} />
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
      <h3>{runsWords.detail.resume}</h3>
      <p className="text-muted">{texts.explainMessage}</p>
      <div className="flex flex-wrap gap-2">
        <Act
          isDisabled={!isEnded(run.status)}
          onAct={async () => {
            const leadOn = fromHere();
            const started = await client.answerAgain(run.threadId, { agent: run.agent, again: messageId });
            leadOn(`/runs/${started.id}`);
          }}
        >
          {texts.anew}
        </Act>
        {!isChanging && <Act onAct={begin}>{`${texts.change} …`}</Act>}
      </div>
      {isChanging && (
        <MessageForm
          name={texts.change}
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
      <h3>{runsWords.detail.resume}</h3>
      <p className="text-muted">{texts.explainStep}</p>
      {typed === undefined ? (
        <div>
          <button type="button" className="button" onClick={() => setTyped("")}>
            {texts.goOn} …
          </button>
        </div>
      ) : (
        <MessageForm
          name={texts.goOn}
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
        const leadOn = fromHere();
        if (sent.current?.content !== text) sent.current = { content: text, messageId: newId() };
        leadOn(`/runs/${(await onSend(sent.current)).id}`);
      }}
    >
      <label className="grid basis-full gap-1 text-muted">
        {texts.message}
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
