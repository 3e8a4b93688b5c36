import { t } from "@lingui/core/macro";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import type { ViewProps } from "../page/view-list.tsx";
import { client } from "../page/server.ts";
import { CreateRoom } from "./create-room.tsx";
import { Room } from "./room.tsx";

/** One's rooms and the kinds there are; with an id, the room. */
export function RoomsView({ rest }: ViewProps) {
  return rest === undefined ? <RoomList /> : <Room key={rest} id={rest} />;
}

function RoomList() {
  const loaded = useAnswer(["rooms"], async (signal) => {
    const [listed, agents] = await Promise.all([client.rooms.list(signal), client.agents(signal)]);
    return { ...listed, agents };
  });
  const { rooms = [], kinds = [], agents = [] } = loaded.data ?? {};
  return (
    <div className="flex-1 overflow-y-auto px-4 pt-4 pb-8">
      <div className="mx-auto flex max-w-[46rem] flex-col gap-6">
        <h1 className="text-lg font-semibold">{t`Rooms`}</h1>
        <Waiting of={loaded} />
        {loaded.data && rooms.length === 0 && <p className="text-muted">{t`No rooms yet`}</p>}
        {rooms.length > 0 && (
          <ul className="grid gap-2">
            {rooms.map(({ id, title, members, run, problem }) => (
              <li key={id}>
                <PageLink look="sample" to={`/rooms/${id}`}>
                  <span dir="auto" className="font-semibold">
                    {title}
                  </span>
                  <span className="text-sm text-muted">
                    {members.map(({ handle }) => `@${handle}`).join(" ")}
                    {run && ` · ${t`running`}`}
                  </span>
                  {problem !== undefined && <span className="text-sm text-warn">{problem}</span>}
                </PageLink>
              </li>
            ))}
          </ul>
        )}
        {loaded.data && (
          <section className="begin-room">
            <h2 className="mb-2 text-lg">{t`New room`}</h2>
            <p className="mb-3 text-sm text-muted">{t`Agents and people talk in one conversation. Choose the agents; you can invite people afterwards.`}</p>
            <CreateRoom kinds={kinds} agents={agents} />
          </section>
        )}
      </div>
    </div>
  );
}
