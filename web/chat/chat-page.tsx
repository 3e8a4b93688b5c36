import { useEffect, useState } from "react";
import type { AgentView } from "../../src/client/client.ts";
import { newId } from "../../src/protocol/ids.ts";
import { useMe } from "../me.ts";
import { goTo } from "../path.ts";
import { base, client, reasonOf } from "../server.ts";
import { threadsChanged } from "../threads/threads-store.ts";
import { words } from "../words.ts";
import {
  beginConversation,
  failedHere,
  forgetFailure,
  openConversation,
  takeBack,
  useConversation,
  waitsHere,
} from "./conversation-store.ts";
import { useAttention } from "./attention.ts";
import { AttachButton, AttachmentTiles, DropZone, useAttachments } from "./attachments.tsx";
import { ConversationRuntime, type ConversationActions } from "./runtime.tsx";
import { ThreadView } from "./thread.tsx";

/** One conversation, or the beginning of one. */
export function ChatPage({ threadId }: { readonly threadId: string | undefined }) {
  const conversation = useConversation();
  const { turns, head, working, open, waiting, error, isLoading } = conversation;
  const [agents, setAgents] = useState<readonly AgentView[]>([]);
  const [models, setModels] = useState<readonly string[]>([]);
  const [agent, setAgent] = useState("assistant");
  const [model, setModel] = useState("");
  const [isDemo, setDemo] = useState(false);

  useEffect(() => void openConversation(threadId), [threadId]);
  useEffect(() => {
    void Promise.all([client.agents(), client.models()])
      .then(([all, names]) => {
        setAgents(all);
        setModels(names.filter((name) => !all.some(({ id }) => id === name)));
        setDemo(
          names.length > 0 &&
            names.every((name) => name === "demo" || name === "default" || all.some(({ id }) => id === name)),
        );
      })
      .catch(failedHere);
  }, []);

  const attachments = useAttachments();
  useAttention(open.length, open[0]?.body.text ?? "");

  const options = model === "" ? {} : { options: { model } };

  async function send(text: string, more: { readonly instead?: string } = {}): Promise<void> {
    forgetFailure();
    const files = attachments.take();
    if (!files) return failedHere(`${words.filesWait}\n${text}`);
    try {
      let id = threadId;
      if (id === undefined) {
        id = newId();
        await client.createThread({ id, title: text.slice(0, 80), agent });
        beginConversation(id);
        goTo(`/chat/${id}`);
      }
      const run = await client.startRun(id, { agent, content: text, files, ...more, ...options });
      if (run.pending) waitsHere(run.id, text);
      threadsChanged();
    } catch (failed) {
      // What was typed must not be lost.
      failedHere(`${reasonOf(failed)}\n${text}`);
    }
  }

  const actions: ConversationActions = {
    send: (text) => send(text),
    edit: (text, instead) => send(text, { instead }),
    async answerAgain(again) {
      if (threadId === undefined) return;
      await client.answerAgain(threadId, { agent, again, ...options }).catch(failedHere);
    },
    async stop() {
      await Promise.all(working.map(({ run }) => client.cancel(run))).catch(failedHere);
    },
    show(turn) {
      const item = turns.find(({ id }) => id === turn)?.blocks.findLast((block) => "item" in block);
      const leaf = item && "item" in item ? item.item?.id : undefined;
      if (threadId !== undefined && leaf !== undefined) client.chooseBranch(threadId, leaf).catch(failedHere);
    },
  };

  const who = working.map(({ agent: id }) => id ?? agent)[0];
  const status = open.length > 0 ? words.waiting : who === undefined ? "" : words.works(who);
  return (
    <ConversationRuntime {...actions} turns={turns} head={head} isRunning={working.length > 0 && open.length === 0}>
      <DropZone onDrop={attachments.add}>
        <ThreadView
          tiles={<AttachmentTiles {...attachments} />}
          agent={agent}
          isBusy={working.length > 0}
          welcome={
            isLoading ? (
              <p className="text-muted">{words.loading}</p>
            ) : (
              <Welcome isDemo={isDemo} onChoose={actions.send} />
            )
          }
          notes={
            <>
              <p role="status" className="min-h-5 text-sm text-muted">
                {status}
              </p>
              {waiting.map(({ run, text }) => (
                <p key={run} className="flex items-center gap-2 text-sm text-muted">
                  <span className="min-w-0 truncate">
                    {words.waitsItsTurn} {text}
                  </span>
                  <button type="button" className="button" onClick={() => void takeBack(run).catch(failedHere)}>
                    {words.takeBack}
                  </button>
                </p>
              ))}
              {error !== undefined && (
                <p role="alert" className="text-sm whitespace-pre-wrap text-bad">
                  {error}
                </p>
              )}
            </>
          }
          tools={
            <>
              <AttachButton onChoose={attachments.add} />
              <Picker
                name={words.agent}
                value={agent}
                onChange={setAgent}
                options={agents.map(({ id }) => [id, `@${id}`])}
              />
              <Picker
                name={words.model}
                value={model}
                onChange={setModel}
                options={[["", words.ownModel], ...models.map((id): [string, string] => [id, id])]}
              />
            </>
          }
        />
      </DropZone>
    </ConversationRuntime>
  );
}

type PickerProps = {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
};

function Picker({ name, value, options, onChange }: PickerProps) {
  return (
    <select className="picker" aria-label={name} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map(([id, text]) => (
        <option key={id} value={id}>
          {text}
        </option>
      ))}
    </select>
  );
}

type WelcomeProps = { readonly isDemo: boolean; readonly onChoose: (text: string) => Promise<void> };

function Welcome({ isDemo, onChoose }: WelcomeProps) {
  const me = useMe();
  return (
    <div className="flex flex-col gap-4 pt-[12dvh]">
      <h1 className="text-xl">{words.welcome}</h1>
      {isDemo && <p className="text-sm text-warn">{words.demo}</p>}
      <ul className="grid gap-2 sm:grid-cols-2">
        {words.samples.map(({ title, text }) => (
          <li key={title}>
            <button type="button" className="sample" onClick={() => void onChoose(text)}>
              <span className="font-semibold">{title}</span>
              <span className="text-sm text-muted">{text}</span>
            </button>
          </li>
        ))}
      </ul>
      {me?.role === "admin" && (
        <ul className="flex flex-wrap gap-x-4 text-sm">
          {words.firstSteps.map(({ text, path }) => (
            <li key={path}>
              <a
                className="text-accent underline"
                href={base + path.slice(1)}
                onClick={(event) => {
                  if (event.metaKey || event.ctrlKey) return;
                  event.preventDefault();
                  goTo(path);
                }}
              >
                {text}
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
