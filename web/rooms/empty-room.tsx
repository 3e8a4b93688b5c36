import { t } from "@lingui/core/macro";
import { builtInText } from "../parts/built-in-text.ts";
import type { RoomView } from "../../src/protocol/agents/rooms.ts";
import { Note } from "../parts/note.tsx";
import { wakeNames } from "./room-names.ts";

type EmptyRoomProps = { readonly room: RoomView; readonly colours: ReadonlyMap<string, number> };

/** Before anything is said: how to begin, and who would hear it. */
export function EmptyRoom({ room, colours }: EmptyRoomProps) {
  const agents = room.members.filter((member) => member.kind === "agent");
  return (
    <section className="mx-auto grid max-w-[46rem] gap-4 pt-[8dvh] pb-6">
      <div className="grid gap-1">
        <h2 className="text-lg">{t`No messages yet`}</h2>
        <p className="text-muted">{t`Message everyone, or mention someone with @ and their name.`}</p>
      </div>
      {agents.length > 0 && (
        <div className="grid gap-2">
          <h3 className="text-sm font-semibold">{t`Members`}</h3>
          <ul className="grid gap-2 text-sm">
            {agents.map(({ handle, description, activation }) => (
              <li key={handle} data-speaker={colours.get(handle)}>
                <span className="speaker font-semibold">@{handle}</span>{" "}
                <span className="text-muted">· {wakeNames[activation]}</span>
                <span className="block text-muted">{builtInText(description)}</span>
              </li>
            ))}
          </ul>
          {!agents.some(({ activation }) => activation === "always") && (
            <div className="text-sm">
              <Note>{t`None of these agents is always listening: they answer only when mentioned with @.`}</Note>
            </div>
          )}
        </div>
      )}
    </section>
  );
}
