import { X } from "lucide-react";
import { useEffect, useState } from "react";
import type { FileView } from "../../src/client/files.ts";
import type { RoomView } from "../../src/client/rooms.ts";
import { goTo } from "../path.ts";
import { base, client } from "../server.ts";
import { words } from "../words.ts";

type MembersProps = {
  readonly room: RoomView;
  readonly thinking: ReadonlyMap<string, string>;
  readonly present: ReadonlySet<string>;
  readonly colours: ReadonlyMap<string, number>;
  readonly onChange: (work: Promise<unknown>) => Promise<void>;
  readonly onClose: () => void;
};

/** Who is in a room and what they do, its files, and what its owner may change. */
export function Members({ room, thinking, present, colours, onChange, onClose }: MembersProps) {
  const isOwner = room.owner === room.you;
  return (
    <aside className="members" aria-label={words.rooms.members}>
      <section>
        <div className="flex items-center">
          <h2 className="grow font-semibold">{words.rooms.members}</h2>
          <button type="button" className="icon-button" aria-label={words.rooms.hideMembers} onClick={onClose}>
            <X size={16} aria-hidden />
          </button>
        </div>
        <ul>
          {room.members.map((member) => {
            const { handle } = member;
            const isThinking = thinking.has(handle);
            return (
              <li key={handle} className="flex min-h-9 flex-wrap items-center gap-2" data-speaker={colours.get(handle)}>
                <span className="speaker font-semibold">@{handle}</span>
                <span className="grow text-muted">
                  {member.kind === "person"
                    ? present.has(handle)
                      ? words.rooms.here
                      : words.rooms.away
                    : isThinking
                      ? words.rooms.thinks
                      : words.rooms.wakes[member.activation]}
                </span>
                {isThinking && (
                  <button
                    type="button"
                    className="button"
                    onClick={() => void onChange(client.rooms.interrupt(room.id, handle))}
                  >
                    {words.stop}
                  </button>
                )}
                {member.kind === "person" && handle !== room.owner && (isOwner || handle === room.you) && (
                  <button
                    type="button"
                    className="button"
                    onClick={() => {
                      void onChange(client.rooms.leave(room.id, handle));
                      if (handle === room.you) goTo("/rooms");
                    }}
                  >
                    {handle === room.you ? words.rooms.leave : words.rooms.remove}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
        {isOwner && (
          <form
            className="mt-2 flex gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              const field = event.currentTarget.elements.namedItem("user");
              if (!(field instanceof HTMLInputElement) || field.value.trim() === "") return;
              void onChange(client.rooms.invite(room.id, field.value.trim()));
              field.value = "";
            }}
          >
            <input
              name="user"
              className="field min-w-0 grow"
              aria-label={words.rooms.invite}
              placeholder={words.rooms.invite}
            />
            <button type="submit" className="button">
              {words.rooms.add}
            </button>
          </form>
        )}
      </section>
      <Files room={room} isBusy={thinking.size > 0} />
      <section className="flex flex-col gap-2">
        <button type="button" className="button" onClick={() => void onChange(client.rooms.clear(room.id))}>
          {words.rooms.newChapter}
        </button>
        <a className="button" href={`${base}api/rooms/${room.id}/export?format=markdown`} download>
          {words.rooms.export}
        </a>
        {isOwner && (
          <button
            type="button"
            className="button text-bad"
            onClick={() => {
              if (confirm(words.rooms.deleteSure))
                void onChange(client.rooms.remove(room.id).then(() => goTo("/rooms")));
            }}
          >
            {words.delete}
          </button>
        )}
      </section>
    </aside>
  );
}

/** Looked up again whenever somebody has finished. */
function Files({ room, isBusy }: { readonly room: RoomView; readonly isBusy: boolean }) {
  const [files, setFiles] = useState<readonly FileView[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    client.rooms
      .files(room.id)
      .list({}, stop.signal)
      .then(({ data }) => setFiles(data.filter(({ kind }) => kind === "file")))
      .catch(() => undefined);
    return () => stop.abort();
  }, [room.id, isBusy]);
  if (files.length === 0) return null;
  return (
    <section>
      <h2 className="font-semibold">{words.rooms.files}</h2>
      <ul>
        {files.map(({ path }) => (
          <li key={path} className="truncate">
            <a
              className="text-accent underline"
              href={`${base}api/rooms/${room.id}/files/${path.split("/").map(encodeURIComponent).join("/")}`}
              download
            >
              {path}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
