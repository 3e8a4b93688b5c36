import { type ConversationBlock, type BlockOf, createConversation } from "../../src/client/conversation.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import type { Item } from "../../src/protocol/threads/items.ts";

/** What one side said and did in one go: a message of a person, or all that an agent did until it was done. */
export type Turn = {
  /** A person's: the item's. An agent's: its run's, with a number behind it where a person spoke in between. */
  readonly id: string;
  readonly parent: string | null;
  readonly role: "user" | "assistant";
  readonly author: string | undefined;
  readonly run: string | undefined;
  readonly blocks: readonly ConversationBlock[];
};

export type Turns = {
  readonly get: (id: string) => Turn | undefined;
  /** The last turn of the branch that is shown. */
  readonly head: () => string | null;
  /** The branch that ends in this turn, from its end on; what was never read is not in it. */
  readonly upFrom: (turn: string | null) => Generator<Turn, void>;
  /** This one and those that stand in its place on other branches, the oldest first; itself alone if what it answers was never read. */
  readonly beside: (turn: Turn) => readonly Turn[];
  /** The newest end of the branches through this turn. */
  readonly endOf: (turn: string) => string;
  /** In which turn an item stands. */
  readonly of: (item: string) => string | undefined;
  /** Whether the message that began this run was told of. */
  readonly hasBegun: (run: string) => boolean;
  readonly open: () => readonly BlockOf<"question">[];
  readonly working: () => ReadonlyMap<string, string | undefined>;
  /** False: it speaks of what was never read, so the thread must be read again. */
  readonly apply: (event: RunEvent) => boolean;
  /** Items without a gap, the lowest seq first, before anything is applied. */
  readonly read: (item: Item) => void;
  readonly choose: (head: string) => void;
  readonly conversation: ReturnType<typeof createConversation>;
};

/** The fold of a thread's log into turns, which make a tree: what was edited or asked anew stands beside what was first. */
export function createTurns(): Turns {
  const conversation = createConversation();
  const turns = new Map<string, Turn>();
  const answersTo = new Map<string | null, string[]>();
  /** In which turn an item stands; also items that were never seen, as the parents of others. */
  const turnOf = new Map<string, string | null>();
  /** Where a run's next block goes, and what it answers. */
  const current = new Map<string, string>();
  const answers = new Map<string, string | null>();
  /** Ids are not used again: what shows the turns takes one for a turn that stays in its place. */
  const removed = new Set<string>();
  const isUsed = (id: string) => turns.has(id) || removed.has(id);
  let head: string | null = null;

  /** The turn that a next one follows: of an item that no event told of the one that is shown. */
  const place = (item: string | null): string | null => {
    if (item === null) return null;
    if (!turnOf.has(item)) turnOf.set(item, head);
    return turnOf.get(item) ?? null;
  };
  const begin = (turn: Turn): void => {
    turns.set(turn.id, turn);
    const others = answersTo.get(turn.parent);
    if (others) others.push(turn.id);
    else answersTo.set(turn.parent, [turn.id]);
  };

  function person(block: BlockOf<"message">): void {
    const { item } = block;
    if (!item) return;
    const again = item.body.again;
    // The same message once more: its answer stands beside the earlier ones.
    const id = again === undefined ? item.id : (turnOf.get(again) ?? again);
    const known = turns.get(id);
    const live = block.run === undefined ? [] : takeLive(block.run);
    if (known && again === undefined) turns.set(id, { ...known, blocks: [block] });
    if (!known)
      begin({
        id,
        parent: place(item.parentId),
        role: "user",
        author: block.author,
        run: block.run,
        blocks: [block],
      });
    turnOf.set(item.id, id);
    if (block.run !== undefined) {
      current.delete(block.run);
      answers.set(block.run, id);
    }
    head = id;
    if (block.run !== undefined) for (const each of live) agent(each, block.run);
  }

  /** What is being written comes behind a message that is heard meanwhile, as it will in the log. */
  function takeLive(run: string): readonly ConversationBlock[] {
    const turn = turns.get(current.get(run) ?? "");
    const live = turn?.blocks.filter((block) => block.kind === "message" && block.isLive) ?? [];
    if (!turn || live.length === 0) return [];
    const blocks = turn.blocks.filter((block) => !live.includes(block));
    if (blocks.length > 0) turns.set(turn.id, { ...turn, blocks });
    else remove(turn);
    return live;
  }

  /** Nothing follows it: it held only what is being written. */
  function remove({ id, parent }: Turn): void {
    turns.delete(id);
    removed.add(id);
    answersTo.set(parent, answersTo.get(parent)?.filter((other) => other !== id) ?? []);
    for (const [item, turn] of turnOf) if (turn === id) turnOf.set(item, parent);
    if (head === id) head = parent;
  }

  function agent(block: ConversationBlock, run: string): void {
    let id = current.get(run);
    if (id === undefined) {
      for (let count = 1; isUsed((id = count === 1 ? run : `${run}#${count}`)); count++);
      const parent = answers.get(run) ?? head;
      begin({ id, parent, role: "assistant", author: conversation.working().get(run), run, blocks: [] });
      current.set(run, id);
    }
    const known = turns.get(id)!;
    // What goes on has not ended, and ends behind all that comes now.
    const turn =
      block.kind === "resume" ? { ...known, blocks: known.blocks.filter(({ kind }) => kind !== "end") } : known;
    const at = turn.blocks.findIndex(({ key }) => key === block.key);
    const others = () => turn.blocks.filter(({ key }) => key !== block.key);
    const blocks = isWithdrawn(block) ? others() : at === -1 ? [...turn.blocks, block] : turn.blocks.with(at, block);
    const author = turn.author ?? ("author" in block ? block.author : undefined);
    turns.set(id, { ...turn, author, blocks });
    head = id;
  }

  /** An answer in a person's words stands beside the one that it was, with all that the agent did before it said so. */
  function edited(block: BlockOf<"message">, item: Item & { readonly kind: "message" }): void {
    const { id, parentId, body } = item;
    const of = body.edited?.of ?? "";
    const first = turns.get(turnOf.get(of) ?? "");
    const isFirst = (each: ConversationBlock) => each.kind === "message" && each.item?.id === of;
    begin({
      id,
      parent: first ? first.parent : place(parentId),
      role: "assistant",
      author: block.author ?? first?.author,
      run: undefined,
      blocks: first?.blocks.map((each) => (isFirst(each) ? block : each)) ?? [block],
    });
    turnOf.set(id, id);
    head = id;
  }

  function settle(blocks: readonly ConversationBlock[]): void {
    for (const block of blocks) {
      if (block.kind === "message" && block.role === "user") person(block);
      else if (block.kind === "message" && block.item?.body.edited) edited(block, block.item);
      else if (block.kind === "message" && block.role === "system") continue;
      else if ("run" in block && block.run !== undefined) agent(block, block.run);
      // A copy belongs to no run: what follows a message answers it.
      else if (head !== null) agent(block, turns.get(head)?.run ?? `copy/${head}`);
    }
  }

  return {
    get: (id) => turns.get(id),
    head: () => (head !== null && turns.has(head) ? head : null),
    *upFrom(from) {
      for (let turn = turns.get(from ?? ""); turn; turn = turns.get(turn.parent ?? "")) yield turn;
    },
    beside(turn) {
      if (turn.parent !== null && !turns.has(turn.parent)) return [turn];
      return (answersTo.get(turn.parent) ?? []).map((id) => turns.get(id)!);
    },
    endOf(turn) {
      let end = turn;
      for (let next; (next = answersTo.get(end)?.at(-1)) !== undefined;) end = next;
      return end;
    },
    of: (item) => turnOf.get(item) ?? undefined,
    hasBegun: (run) => answers.has(run),
    open: conversation.open,
    working: conversation.working,
    conversation,
    apply(event) {
      if (event.type === "branch") {
        const chosen = event.leaf === null ? null : turnOf.get(event.leaf);
        if (chosen === undefined || (chosen !== null && !turns.has(chosen))) return false;
        head = chosen;
        return true;
      }
      settle(conversation.apply(event));
      if ("item" in event && head !== null && !turnOf.has(event.item.id)) turnOf.set(event.item.id, head);
      return true;
    },
    read(item) {
      // What it follows stands before what is read.
      if (item.parentId !== null && !turnOf.has(item.parentId)) {
        turnOf.set(item.parentId, unread(item.parentId));
        head ??= unread(item.parentId);
      }
      const before = head;
      settle(conversation.read(item));
      if (item.kind === "state" && item.body.type === "branch")
        head = item.parentId === null ? null : (turnOf.get(item.parentId) ?? before);
      if (!turnOf.has(item.id)) turnOf.set(item.id, head);
    },
    choose(to) {
      head = to;
    },
  };
}

/** What is told anew stands where it is told; that it is tried again stands until then. */
function isWithdrawn(block: ConversationBlock): boolean {
  return block.kind === "message" && block.isLive && block.text === "" && block.reasoning === "" && !block.retry;
}

/** In place of the turn of an item that was never read. */
function unread(item: string): string {
  return `before ${item}`;
}
