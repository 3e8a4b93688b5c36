import { useEffect, useState } from "react";
import type { RoomKind, RoomView } from "../../src/client/rooms.ts";
import { goTo } from "../path.ts";
import type { ViewProps } from "../pages.tsx";
import { client, reasonOf } from "../server.ts";
import { words } from "../words.ts";
import { Room } from "./room.tsx";

/** One's rooms and the kinds there are; with an id, the room. */
export function RoomsView({ rest }: ViewProps) {
  return rest === undefined ? <RoomList /> : <Room key={rest} id={rest} />;
}

function RoomList() {
  const [listed, setListed] = useState<{ rooms: readonly RoomView[]; kinds: readonly RoomKind[] }>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    const stop = new AbortController();
    client.rooms.list(stop.signal).then(setListed, (failed: unknown) => {
      if (!stop.signal.aborted) setError(reasonOf(failed));
    });
    return () => stop.abort();
  }, []);

  async function make(kind: RoomKind): Promise<void> {
    try {
      const { id } = await client.rooms.create({ kind: kind.id });
      goTo(`/rooms/${id}`);
    } catch (failed) {
      setError(reasonOf(failed));
    }
  }

  return (
    <div className="flex-1 overflow-y-auto px-4 py-6">
      <div className="mx-auto flex max-w-[46rem] flex-col gap-6">
        <h1 className="text-xl">{words.rooms.title}</h1>
        {error !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {error}
          </p>
        )}
        {!listed && error === undefined && <p className="text-muted">{words.loading}</p>}
        {listed && listed.rooms.length > 0 && (
          <ul className="grid gap-2">
            {listed.rooms.map(({ id, title, members, run, problem }) => (
              <li key={id}>
                <a
                  className="sample"
                  href={`rooms/${id}`}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey) return;
                    event.preventDefault();
                    goTo(`/rooms/${id}`);
                  }}
                >
                  <span className="font-semibold">{title}</span>
                  <span className="text-sm text-muted">
                    {members.map(({ handle }) => `@${handle}`).join(" ")}
                    {run && ` · ${words.running}`}
                  </span>
                  {problem !== undefined && <span className="text-sm text-warn">{problem}</span>}
                </a>
              </li>
            ))}
          </ul>
        )}
        {listed && (
          <section>
            <h2 className="mb-2 text-lg">{words.rooms.make}</h2>
            <ul className="grid gap-2 sm:grid-cols-2">
              {listed.kinds.map((kind) => (
                <li key={kind.id}>
                  <button type="button" className="sample" onClick={() => void make(kind)}>
                    <span className="font-semibold">{kind.title}</span>
                    <span className="text-sm text-muted">{kind.description}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}
