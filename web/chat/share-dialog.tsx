import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Note } from "../parts/note.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { OneTimeSecretBox } from "../parts/one-time-secret.tsx";
import { server } from "../page/server.ts";
import { threadClient } from "../threads/thread-client.ts";
import { talkWords } from "../conversation/talk-words.ts";

/** Other machines mean themselves by it. */
const isThisMachine = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
const spans = [1, 7, 30, 365];

/** Read-only links to a conversation: made, copied, withdrawn. */
export function ShareDialog({ threadId, onClose }: { readonly threadId: string; readonly onClose: () => void }) {
  const { shares: said } = talkWords;
  const links = useLoaded(threadId, (signal) => threadClient.shares(threadId, signal));
  const [days, setDays] = useState("7");
  const [made, setMade] = useState<string>();

  async function make(): Promise<void> {
    const { page } = await threadClient.share(threadId, days === "" ? {} : { days: Number(days) });
    setMade(server.url + page.slice(1));
    links.reload();
  }

  return (
    <Dialog title={said.title} onClose={onClose}>
      <p className="text-sm text-muted">{said.what}</p>
      {isThisMachine(location.hostname) && (
        <div className="text-sm">
          <Note>{said.onlyHere(location.host)}</Note>
        </div>
      )}
      <Form name={said.title} submit={said.make} onSubmit={make}>
        <ChoiceField
          label={said.ends}
          value={days}
          onChange={setDays}
          options={[...spans.map((each): [string, string] => [String(each), said.inDays(each)]), ["", said.never]]}
        />
      </Form>
      {made !== undefined && <OneTimeSecretBox label={said.made} text={made} onClose={() => setMade(undefined)} />}
      <Waiting of={links} />
      {links.data?.length === 0 && <p className="text-sm text-muted">{said.none}</p>}
      <ul className="grid gap-2 text-sm">
        {links.data?.map(({ id, createdAt, expiresAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3">
            <span className="grow">
              {said.madeAt(time(createdAt))} · {endOf(expiresAt)}
            </span>
            <Act
              name={`${said.withdraw}: ${time(createdAt)}`}
              onAct={() => threadClient.withdraw(id).then(links.reload)}
            >
              {said.withdraw}
            </Act>
          </li>
        ))}
      </ul>
    </Dialog>
  );

  function endOf(expiresAt: string | null): string {
    if (expiresAt === null) return said.endless;
    return (Date.parse(expiresAt) > Date.now() ? said.endsAt : said.ended)(time(expiresAt));
  }
}
