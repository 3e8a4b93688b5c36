import { UserMinus, X } from "lucide-react";
import { t } from "@lingui/core/macro";
import type { RoomView } from "../../src/protocol/agents/rooms.ts";
import { FilesPanel } from "../parts/files-panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { goTo } from "../page/path.ts";
import { base, client } from "../page/server.ts";
import { agentsOf, AddAgent } from "./add-agent.tsx";
import { wakeNames } from "./room-names.ts";

type MembersProps = {
  readonly room: RoomView;
  readonly thinking: ReadonlyMap<string, string>;
  readonly present: ReadonlySet<string>;
  readonly colours: ReadonlyMap<string, number>;
  /** Whether it was done; why not is told beside the dialogue. */
  readonly onChange: (work: Promise<unknown>) => Promise<boolean>;
  /** Other agents are in it. */
  readonly onChanged: () => void;
  readonly onClose: () => void;
};

/** Who is in a room and what they do, its files, and what its owner may change. */
export function Members({ room, thinking, present, colours, onChange, onChanged, onClose }: MembersProps) {
  const isOwner = room.owner === room.you;
  const isLastAgent = room.members.filter(({ kind }) => kind === "agent").length === 1;
  const takingOut = useAct(async (handle: string) => {
    await client.rooms.change(room.id, { members: agentsOf(room, handle) });
    onChanged();
  });
  return (
    <aside className="members" aria-label={t`Members`}>
      <section>
        <div className="flex items-center">
          <h2 className="grow font-semibold">{t`Members`}</h2>
          <button type="button" className="icon-button" aria-label={t`Hide members`} onClick={onClose}>
            <X size={16} aria-hidden />
          </button>
        </div>
        <ul>
          {room.members.map((member) => {
            const { handle } = member;
            const isThinking = thinking.has(handle);
            return (
              <li key={handle} className="flex min-h-9 items-center gap-2" data-speaker={colours.get(handle)}>
                <span className="min-w-0 grow text-muted">
                  <span className="speaker font-semibold break-words">@{handle}</span>{" "}
                  {handle === room.you && `(${t`You`}) `}
                  {member.kind === "person"
                    ? present.has(handle)
                      ? t`online`
                      : t`offline`
                    : isThinking
                      ? t`thinking`
                      : wakeNames[member.activation]}
                </span>
                {isThinking && (
                  <button
                    type="button"
                    className="button"
                    onClick={() => void onChange(client.rooms.interrupt(room.id, handle))}
                  >
                    {t`Stop`}
                  </button>
                )}
                {member.kind === "agent" && isOwner && (
                  <button
                    type="button"
                    className="icon-button disabled:opacity-40"
                    aria-label={t`Remove @${handle}`}
                    title={isLastAgent ? t`A room needs at least one agent.` : t`Remove @${handle}`}
                    disabled={takingOut.isBusy || isLastAgent}
                    onClick={() => takingOut.act(handle)}
                  >
                    <UserMinus size={16} aria-hidden />
                  </button>
                )}
                {member.kind === "person" && handle !== room.owner && (isOwner || handle === room.you) && (
                  <button
                    type="button"
                    className="button"
                    onClick={async () => {
                      const isDone = await onChange(client.rooms.leave(room.id, handle));
                      if (isDone && handle === room.you) goTo("/rooms");
                    }}
                  >
                    {handle === room.you ? t`Leave` : t`Remove`}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
        <Problem text={takingOut.problem} />
        {isOwner && <AddAgent room={room} onChanged={onChanged} />}
        {isOwner && (
          <form
            className="mt-4 flex gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              const field = event.currentTarget.elements.namedItem("user");
              if (!(field instanceof HTMLInputElement) || field.value.trim() === "") return;
              void onChange(client.rooms.invite(room.id, field.value.trim())).then((isDone) => {
                if (isDone) field.value = "";
              });
            }}
          >
            <input
              name="user"
              className="field min-w-0 grow"
              aria-label={t`Account name`}
              placeholder={t`Account name`}
            />
            <button type="submit" className="button">
              {t`Invite`}
            </button>
          </form>
        )}
      </section>
      <FilesPanel
        files={client.rooms.files(room.id)}
        root={`api/rooms/${room.id}/files`}
        round={thinking.size > 0 ? "busy" : "quiet"}
      />
      <section className="flex flex-col gap-2">
        <button type="button" className="button" onClick={() => void onChange(client.rooms.clear(room.id))}>
          {t`Start a new chapter`}
        </button>
        <a className="button" href={`${base}api/rooms/${room.id}/export?format=markdown`} download>
          {t`Download as Markdown`}
        </a>
        {isOwner && (
          <button
            type="button"
            className="button text-bad"
            onClick={async () => {
              if (
                await confirmAction({
                  ...{
                    title: t`Delete this room?`,
                    text: t`“${{ title: room.title }}” and everything in it will be permanently deleted for everyone. This can't be undone.`,
                  },
                  action: t`Delete`,
                })
              )
                await onChange(client.rooms.remove(room.id).then(() => goTo("/rooms")));
            }}
          >
            {t`Delete`}
          </button>
        )}
      </section>
    </aside>
  );
}
