import { useState } from "react";
import { plural, t } from "@lingui/core/macro";
import { Dialog } from "../parts/dialog.tsx";
import { isPast, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Note } from "../parts/note.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { OneTimeSecretBox } from "../parts/one-time-secret.tsx";
import { server } from "../page/server.ts";
import { threadClient } from "../threads/thread-client.ts";

/** Other machines mean themselves by it. */
const isThisMachine = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
const spans = [1, 7, 30, 365];

/** Read-only links to a conversation: made, copied, withdrawn. */
export function ShareDialog({ threadId, onClose }: { readonly threadId: string; readonly onClose: () => void }) {
  const links = useAnswer(["shares", threadId], (signal) => threadClient.shares(threadId, signal));
  const [days, setDays] = useState("7");
  const [made, setMade] = useState<string>();

  async function make(): Promise<void> {
    const { page } = await threadClient.share(threadId, days === "" ? {} : { days: Number(days) });
    setMade(server.url + page.slice(1));
    links.reload();
  }

  return (
    <Dialog title={t`Share a link`} onClose={onClose}>
      <p className="text-sm text-muted">{t`Anyone with the link can read the conversation up to now, without an account. Tool calls are not included.`}</p>
      {isThisMachine(location.hostname) && (
        <div className="text-sm">
          <Note>{t`Links to ${{ host: location.host }} work on this machine only. To share with others, open this page at an address that they can reach.`}</Note>
        </div>
      )}
      <Form name={t`Share a link`} submit={t`Create link`} onSubmit={make}>
        <ChoiceField
          label={t`Link expires`}
          value={days}
          onChange={setDays}
          options={[
            ...spans.map((each): [string, string] => [
              String(each),
              plural({ days: each }, { one: "in # day", other: "in # days" }),
            ]),
            ["", t`never`],
          ]}
        />
      </Form>
      {made !== undefined && (
        <OneTimeSecretBox
          label={t`Copy it now. You won't see it again.`}
          text={made}
          onClose={() => setMade(undefined)}
        />
      )}
      <Waiting of={links} />
      {links.data?.length === 0 && <p className="text-sm text-muted">{t`No links yet`}</p>}
      <ul className="grid gap-2 text-sm">
        {links.data?.map(({ id, createdAt, expiresAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3">
            <span className="grow">
              {t`created ${{ when: time(createdAt) }}`} · {endOf(expiresAt)}
            </span>
            <Act name={`${t`Revoke`}: ${time(createdAt)}`} onAct={() => threadClient.withdraw(id).then(links.reload)}>
              {t`Revoke`}
            </Act>
          </li>
        ))}
      </ul>
    </Dialog>
  );

  function endOf(expiresAt: string | null): string {
    if (expiresAt === null) return t`never expires`;
    return isPast(expiresAt) ? t`expired ${{ when: time(expiresAt) }}` : t`expires ${{ when: time(expiresAt) }}`;
  }
}
