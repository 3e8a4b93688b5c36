import { type Block, type BlockOf, createConversation } from "../../src/client/conversation.ts";
import type { RunEvent } from "../../src/protocol/events.ts";
import type { Item } from "../../src/protocol/items.ts";

/** What one side said and did in one go: a message of a person, or all that an agent did until it was done. */
export type Turn = {
  /** A person's: the item's. An agent's: its run's, with a number behind it where a person spoke in between. */
  readonly id: string;
  readonly parent: string | null;
  readonly role: "user" | "assistant";
  readonly author: string | undefined;
  readonly run: string | undefined;
  readonly blocks: readonly Block[];
};

export type Turns = {
  /** All branches, parents first. */
  readonly all: () => readonly Turn[];
  /** The last turn of the branch that is shown. */
  readonly head: () => string | null;
  readonly open: () => readonly BlockOf<"question">[];
  readonly working: () => ReadonlyMap<string, string | undefined>;
  /** False: it speaks of what was never read, so the thread must be read again. */
  readonly apply: (event: RunEvent) => boolean;
  readonly read: (item: Item) => void;
  readonly choose: (head: string) => void;
  readonly conversation: ReturnType<typeof createConversation>;
};

/** The fold of a thread's log into turns, which make a tree: what was edited or asked anew stands beside what was first. */
export function createTurns(): Turns {
  const conversation = createConversation();
  const turns = new Map<string, Turn>();
  /** In which turn an item stands; also items that were never seen, as the parents of others. */
  const turnOf = new Map<string, string | null>();
  /** Where a run's next block goes, and what it answers. */
  const current = new Map<string, string>();
  const answers = new Map<string, string | null>();
  let head: string | null = null;

  const place = (item: string | null): string | null => {
    if (item === null) return null;
    if (!turnOf.has(item)) turnOf.set(item, head);
    return turnOf.get(item) ?? null;
  };

  function person(block: BlockOf<"message">): void {
    const { item } = block;
    if (!item) return;
    const again = item.body.again;
    // The same message once more: its answer stands beside the earlier ones.
    const id = again === undefined ? item.id : (turnOf.get(again) ?? again);
    if (again === undefined || !turns.has(id))
      turns.set(id, {
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
  }

  function agent(block: Block, run: string): void {
    let id = current.get(run);
    if (id === undefined) {
      for (let count = 1; turns.has((id = count === 1 ? run : `${run}#${count}`)); count++);
      const parent = answers.get(run) ?? head;
      turns.set(id, { id, parent, role: "assistant", author: conversation.working().get(run), run, blocks: [] });
      current.set(run, id);
    }
    const turn = turns.get(id)!;
    const at = turn.blocks.findIndex(({ key }) => key === block.key);
    const blocks = at === -1 ? [...turn.blocks, block] : turn.blocks.with(at, block);
    const author = turn.author ?? ("author" in block ? block.author : undefined);
    turns.set(id, { ...turn, author, blocks });
    head = id;
  }

  function settle(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block.kind === "message" && block.role === "user") person(block);
      else if (block.kind === "message" && block.role === "system") continue;
      else if ("run" in block && block.run !== undefined) agent(block, block.run);
      else if (head !== null) {
        const turn = turns.get(head);
        if (turn?.run !== undefined) agent(block, turn.run);
      }
    }
  }

  return {
    all: () => [...turns.values()],
    head: () => head,
    open: conversation.open,
    working: conversation.working,
    conversation,
    apply(event) {
      if (event.type === "branch") {
        const chosen = event.leaf === null ? null : turnOf.get(event.leaf);
        if (chosen === undefined) return false;
        head = chosen;
        return true;
      }
      settle(conversation.apply(event));
      if ("item" in event && head !== null) turnOf.set(event.item.id, head);
      return true;
    },
    read(item) {
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
