import { ArrowDown, Users } from "lucide-react";
import { memo, useEffect, useMemo, useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { ConversationBlock, BlockOf } from "../../src/client/conversation.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import { answerLost, attemptOf, mayHaveArrived } from "../conversation/outgoing-message.ts";
import { Blocks } from "../turn/blocks.tsx";
import { noticeText } from "../conversation/notice-text.ts";
import { ConnectionState } from "../conversation/connection-state.tsx";
import { TurnPlaceContext } from "../turn/turn-place.ts";
import { useFollowedEnd } from "../parts/log/stick-to-end.ts";
import { Speaker } from "../turn/speaker.tsx";
import { newestOf, useHasNewBelow } from "../parts/log/new-below.ts";
import { OlderOfLog } from "../parts/log/load-more.tsx";
import { Problem } from "../parts/problem.tsx";
import { client } from "../page/server.ts";
import { useShortcut } from "../browser/shortcuts.ts";
import { EmptyRoom } from "./empty-room.tsx";
import { Members } from "./members.tsx";
import { MentionComposer } from "./mention-composer.tsx";
import { JoinRoom } from "./join-room.tsx";
import { useRoom } from "./room-store.ts";

/** Beside the conversation there is place for its members. */
const roomy = matchMedia("(min-width: 1024px)");

/** What is on the page at first, and what each step back adds. */
const stepTurns = 60;

/** One room: the dialogue of all, who thinks, and at the right who is in it. */
export function Room({ id }: { readonly id: string }) {
  const { room, blocks, isRead, hasOlder, open, thinking, present, isOutside, isBroken, error, learn, fail, ...more } =
    useRoom(id);
  const [most, setMost] = useState(stepTurns);
  const [isReading, setReading] = useState(false);
  const together = useMemo(() => saidTogether(blocks), [blocks]);
  const [showsMembers, setShowsMembers] = useState(roomy.matches);
  // In a window that becomes narrow they would stand over what is said.
  useEffect(() => {
    const follow = () => setShowsMembers(roomy.matches);
    roomy.addEventListener("change", follow);
    return () => roomy.removeEventListener("change", follow);
  }, []);
  const { ref: followed, isAtEnd, toEnd } = useFollowedEnd();
  const hasNewBelow = useHasNewBelow(isAtEnd || !isRead, newestOf(blocks));

  const place = useMemo(
    () => ({
      files: `api/rooms/${id}/files`,
      decide: (question: BlockOf<"question">, input: DecisionInput) => client.rooms.decide(id, question.id, input),
    }),
    [id],
  );
  const handles = [...thinking.keys()].map((each) => `@${each}`).join(", ");
  useShortcut("stop", () => void client.rooms.interrupt(id).catch(fail), thinking.size > 0);
  const colours = useMemo(
    () =>
      new Map(
        room?.members
          .filter(({ kind }) => kind === "agent")
          .map(({ handle }, at): [string, number] => [handle, at % 8]),
      ),
    [room],
  );
  if (!room && isOutside) return <JoinRoom id={id} onIn={more.openAgain} />;
  if (!room)
    return error === undefined ? (
      <p className="p-4 text-muted">{t`Loading…`}</p>
    ) : (
      <div className="p-4">
        <RoomProblem why={error} onAgain={more.openAgain} />
      </div>
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

  const say = async (content: string) => {
    const attempt = attemptOf(JSON.stringify([id, content]), id);
    try {
      await client.rooms.say(id, { id: attempt.messageId, content });
      answerLost(undefined);
    } catch (failed) {
      answerLost(mayHaveArrived(failed) ? attempt : undefined);
      throw failed;
    }
  };

  const showOlder = async (before: () => void) => {
    setReading(true);
    try {
      if (together.length <= most) await more.older(before);
      else before();
      setMost(most + stepTurns);
    } catch (failed) {
      fail(failed);
    } finally {
      setReading(false);
    }
  };

  return (
    <div className="flex min-h-0 flex-1">
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex items-center gap-2 px-4">
          <h1 dir="auto" className="min-w-0 grow truncate font-semibold">
            {room.title}
          </h1>
          <button
            type="button"
            className="icon-button"
            aria-label={t`Members`}
            aria-expanded={showsMembers}
            onClick={() => setShowsMembers(!showsMembers)}
          >
            <Users size={16} aria-hidden />
          </button>
        </div>
        <div
          ref={followed}
          className="relative flex-1 overflow-y-auto px-4"
          tabIndex={0}
          role="log"
          aria-label={room.title}
          aria-live="off"
          aria-busy={thinking.size > 0}
        >
          <div className="mx-auto flex max-w-[46rem] flex-col pt-4">
            <OlderOfLog hasMore={hasOlder || together.length > most} isReading={isReading} onMore={showOlder} />
          </div>
          {isRead && blocks.length === 0 && <EmptyRoom room={room} colours={colours} />}
          <ol className="mx-auto flex max-w-[46rem] flex-col gap-4 pt-2 pb-6">
            <TurnPlaceContext value={place}>
              {together.slice(-most).map((turn) => (
                <RoomTurn key={turn[0].key} blocks={turn} you={room.you} colours={colours} />
              ))}
            </TurnPlaceContext>
          </ol>
          {!isAtEnd && (
            <button
              type="button"
              className="new-below"
              onClick={({ currentTarget }) => {
                currentTarget.closest<HTMLElement>("[role=log]")?.focus({ preventScroll: true });
                toEnd();
              }}
            >
              <ArrowDown size={16} aria-hidden /> {hasNewBelow ? t`New messages` : t`Jump to latest`}
            </button>
          )}
        </div>
        <div className="mx-auto w-full max-w-[46rem] px-4 pb-1 text-sm">
          <ConnectionState />
          <p role="status" className="flex min-h-8 items-center gap-2 text-muted">
            {open.some(({ body }) => !body.outage?.repeats)
              ? t`needs your input`
              : thinking.size > 0 &&
                plural(
                  { count: thinking.size },
                  {
                    one: `${{ who: handles }} is thinking`,
                    other: `${{ who: handles }} are thinking`,
                  },
                )}
            {thinking.size > 0 && (
              <button type="button" className="button" onClick={() => void tell(client.rooms.interrupt(id))}>
                {t`Stop all`}
              </button>
            )}
            {halted && thinking.size === 0 && (
              <button type="button" className="button" onClick={() => void tell(client.rooms.continue(id))}>
                {t`Continue`}
              </button>
            )}
          </p>
          {room.problem !== undefined && <p className="text-warn">{room.problem}</p>}
          {error !== undefined && (
            <RoomProblem
              why={isOutside ? t`You are not in this room` : error}
              onAgain={isBroken ? more.openAgain : undefined}
            />
          )}
        </div>
        <MentionComposer
          roomId={id}
          handles={room.members.flatMap(({ handle }) => (handle === room.you ? [] : [handle]))}
          onSend={async (content) => {
            const isSaid = await tell(say(content));
            if (isSaid) toEnd();
            return isSaid;
          }}
        />
      </div>
      {showsMembers && (
        <Members
          room={room}
          thinking={thinking}
          present={present}
          colours={colours}
          onClose={() => setShowsMembers(false)}
          onChanged={learn}
          onChange={async (work) => {
            const isDone = await tell(work);
            if (isDone) learn();
            return isDone;
          }}
        />
      )}
    </div>
  );
}

function RoomProblem({ why, onAgain }: { readonly why: string; readonly onAgain: (() => void) | undefined }) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Problem text={why} />
      {onAgain && (
        <button type="button" className="button" onClick={onAgain}>
          {t`Try again`}
        </button>
      )}
    </div>
  );
}

type BlockGroup = readonly [ConversationBlock, ...ConversationBlock[]];

/** What one member said and did without another one between; the end of a turn belongs to what it said last. */
function saidTogether(blocks: readonly ConversationBlock[]): readonly BlockGroup[] {
  const all: [ConversationBlock, ...ConversationBlock[]][] = [];
  const newest = new Map<string, ConversationBlock[]>();
  let who: string | undefined;
  for (const block of blocks) {
    if (block.kind === "plan" || (block.kind === "message" && block.role === "system")) continue;
    const by = "run" in block && block.run !== undefined && isAgents(block) ? block.run : undefined;
    // Of those that think at the same time, another one may have spoken since.
    const ended = block.kind === "end" && by !== undefined ? newest.get(by) : undefined;
    const last = ended ?? (by === who && by !== undefined ? all.at(-1) : undefined);
    if (last) last.push(block);
    else all.push([block]);
    if (ended) continue;
    who = by;
    if (by !== undefined) newest.set(by, all.at(-1)!);
  }
  return all;
}

function isAgents(block: ConversationBlock): boolean {
  return block.kind !== "message" || block.role === "assistant";
}

type RoomTurnProps = {
  readonly blocks: BlockGroup;
  readonly you: string;
  readonly colours: ReadonlyMap<string, number>;
};

/** Once more only if something in it is another. */
const RoomTurn = memo(RoomTurnView, (before, now) => {
  const areBlocks =
    before.blocks.length === now.blocks.length && now.blocks.every((each, at) => each === before.blocks[at]);
  return areBlocks && before.you === now.you && before.colours === now.colours;
});

function RoomTurnView({ blocks, you, colours }: RoomTurnProps) {
  const [first] = blocks;
  if (first.kind === "notice")
    return (
      <li className="text-sm text-warn">
        {first.code === "chapter" ? t`New chapter: agents don't see earlier messages.` : noticeText(first)}
      </li>
    );
  const speaks = blocks.find((block) => "author" in block && block.author !== undefined);
  const author = (speaks && "author" in speaks && speaks.author) || "";
  const isPartial = blocks.some((block) => block.kind === "message" && block.isPartial);
  if (author === "" || !blocks.some(isShown))
    return blocks.some(isShown) ? (
      <li>
        <Blocks blocks={blocks} />
      </li>
    ) : null;
  return (
    <li className="turn" data-speaker={colours.get(author)}>
      <Speaker name={author === you ? t`You` : `@${author}`}>
        {isPartial && <span className="text-warn">{t`Stopped.`}</span>}
      </Speaker>
      <div className="flex flex-col gap-2">
        <Blocks blocks={blocks} />
      </div>
    </li>
  );
}

function isShown(block: ConversationBlock): boolean {
  if (block.kind === "message") return block.text !== "";
  return block.kind !== "end" || block.status === "failed";
}

/** Whether the last thing that happened is that a guard stopped the agents. */
function haltedBy(blocks: readonly ConversationBlock[]): boolean {
  const last = blocks.findLast(({ kind }) => kind !== "end");
  return last?.kind === "notice" && /^room_/.test(last.code ?? "");
}
