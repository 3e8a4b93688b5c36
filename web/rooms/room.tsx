import { Users } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Block } from "../../src/client/conversation.ts";
import type { RoomView } from "../../src/client/rooms.ts";
import { Formatted } from "../chat/formatted.tsx";
import { Question } from "../chat/question.tsx";
import { ToolLine } from "../chat/tool-line.tsx";
import { client } from "../server.ts";
import { words } from "../words.ts";
import { Members } from "./members.tsx";
import { MentionComposer } from "./mention-composer.tsx";
import { useRoom } from "./room-store.ts";

/** One room: the dialogue of all, who thinks, and at the right who is in it. */
export function Room({ id }: { readonly id: string }) {
  const { room, blocks, open, thinking, present, error, learn, fail } = useRoom(id);
  const [showsMembers, setShowsMembers] = useState(() => innerWidth >= 1024);
  const end = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current) end.current?.scrollIntoView({ block: "end" });
  }, [blocks]);

  if (!room)
    return error === undefined ? (
      <p className="p-4 text-muted">{words.loading}</p>
    ) : (
      <p role="alert" className="p-4 text-bad">
        {error}
      </p>
    );

  const colours = new Map(
    room.members.filter(({ kind }) => kind === "agent").map(({ handle }, at): [string, number] => [handle, at % 8]),
  );
  const halted = haltedBy(blocks);
  const tell = async (work: Promise<unknown>) => {
    fail(undefined);
    try {
      await work;
      return true;
    } catch (failed) {
      fail(failed);
      return false;
    }
  };

  return (
    <div className="flex min-h-0 flex-1">
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex items-center gap-2 px-4">
          <h1 className="min-w-0 grow truncate font-semibold">{room.title}</h1>
          <button
            type="button"
            className="icon-button"
            aria-label={words.rooms.members}
            aria-expanded={showsMembers}
            onClick={() => setShowsMembers(!showsMembers)}
          >
            <Users size={16} aria-hidden />
          </button>
        </div>
        <div
          ref={box}
          className="flex-1 overflow-y-auto px-4"
          tabIndex={0}
          role="log"
          aria-label={room.title}
          aria-live="off"
          aria-busy={thinking.size > 0}
          onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
            isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
          }}
        >
          <ol className="mx-auto flex max-w-[46rem] flex-col gap-4 py-6">
            {blocks.map((block) => (
              <RoomBlock key={block.key} block={block} room={room} colours={colours} />
            ))}
          </ol>
          <div ref={end} />
        </div>
        <div className="mx-auto w-full max-w-[46rem] px-4 text-sm">
          <p role="status" className="flex min-h-8 items-center gap-2 text-muted">
            {open.length > 0 ? words.waiting : thinking.size > 0 && words.rooms.think([...thinking.keys()])}
            {thinking.size > 0 && (
              <button type="button" className="button" onClick={() => void tell(client.rooms.interrupt(id))}>
                {words.rooms.stopAll}
              </button>
            )}
            {halted && thinking.size === 0 && (
              <button type="button" className="button" onClick={() => void tell(client.rooms.continue(id))}>
                {words.continue}
              </button>
            )}
          </p>
          {room.problem !== undefined && <p className="text-warn">{room.problem}</p>}
          {error !== undefined && (
            <p role="alert" className="text-bad">
              {error}
            </p>
          )}
        </div>
        <MentionComposer
          handles={room.members.flatMap(({ handle }) => (handle === room.you ? [] : [handle]))}
          onSend={(content) => tell(client.rooms.say(id, { content }))}
        />
      </div>
      {showsMembers && (
        <Members
          room={room}
          thinking={thinking}
          present={present}
          colours={colours}
          onClose={() => setShowsMembers(false)}
          onChange={async (work) => {
            if (await tell(work)) learn();
          }}
        />
      )}
    </div>
  );
}

type RoomBlockProps = {
  readonly block: Block;
  readonly room: RoomView;
  readonly colours: ReadonlyMap<string, number>;
};

function RoomBlock({ block, room, colours }: RoomBlockProps) {
  switch (block.kind) {
    case "message":
    case "call": {
      if (block.kind === "message" && (block.role === "system" || block.text === "")) return null;
      const author = block.author ?? "";
      const colour = colours.get(author);
      return (
        <li className="turn speaker-turn" data-speaker={colour}>
          <h2 className="speaker text-sm font-semibold">
            {author === room.you ? words.you : `@${author}`}
            {block.kind === "message" && block.isPartial && <span className="text-warn"> {words.stopped}</span>}
          </h2>
          {block.kind === "call" ? <ToolLine call={block} /> : <Formatted text={block.text} />}
        </li>
      );
    }
    case "question":
      return (
        <li>
          <Question question={block} onDecide={(input) => client.rooms.decide(room.id, block.id, input)} />
        </li>
      );
    case "notice":
      return <li className="text-sm text-warn">{block.code === "chapter" ? words.rooms.chapter : block.text}</li>;
    case "end":
      return block.status === "failed" ? (
        <li role="alert" className="text-sm text-bad">
          {words.failed(block.error ?? "")}
        </li>
      ) : null;
    case "plan":
      return null;
  }
}

/** Whether the last thing that happened is that a guard stopped the agents. */
function haltedBy(blocks: readonly Block[]): boolean {
  const last = blocks.findLast(({ kind }) => kind !== "end");
  return last?.kind === "notice" && /^room_/.test(last.code ?? "");
}
