import type { RunEvent } from "../../src/protocol/threads/events.ts";
import {
  joinStretches,
  maxItems,
  readAround,
  type ReadItems,
  readEnd,
  readNewer,
  readOlder,
  rememberStretch,
  type Stretch,
} from "../parts/log/log-stretch.ts";
import { client } from "../page/server.ts";
import { createTurns, type Turns } from "./turns.ts";

type TurnsUpdate = (turns: Turns) => unknown;
type LogStretch = { readonly stretch: Stretch; readonly told: (RunEvent | TurnsUpdate)[]; readonly turns: Turns };

/**
 * What this page knows of a thread: its end, which goes on, and where somebody reads far from it another stretch. Where more
 * items are read, all of the stretch is folded anew: only so is each turn in its place.
 */
export type ThreadLog = {
  /** Of the stretch that is read in. */
  readonly turns: () => Turns;
  readonly end: () => LogStretch;
  readonly hasOlder: () => boolean;
  readonly hasNewer: () => boolean;
  /** Returns the cursor to go on from. */
  readonly readEnd: (signal: AbortSignal) => Promise<string>;
  /** `through`: a turn whose branch goes on being shown. */
  readonly readOlder: (signal: AbortSignal, through?: string) => Promise<void>;
  readonly readNewer: (signal: AbortSignal, through?: string) => Promise<void>;
  /** Returns the turn of the item; undefined: the thread has none. */
  readonly readAround: (item: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly toEnd: () => void;
  /** False: the thread must be read again. */
  readonly apply: (event: RunEvent) => boolean;
  readonly tell: (said: TurnsUpdate) => void;
};

export function createLog(threadId = ""): ThreadLog {
  const read: ReadItems = (page, signal) => client.items(threadId, page, signal);
  let end = fold({ items: [], hasOlder: false, hasNewer: false }, []);
  let elsewhere: LogStretch | undefined;
  const part = () => elsewhere ?? end;
  /** One with the end where they meet. */
  const place = (stretch: Stretch, through?: string) => {
    const whole = joinStretches(stretch, end.stretch);
    if (whole) end = fold(whole, end.told, through);
    elsewhere = whole ? undefined : fold(stretch, [], through);
  };

  return {
    turns: () => part().turns,
    end: () => end,
    hasOlder: () => part().stretch.hasOlder,
    hasNewer: () => part().stretch.hasNewer,
    async readEnd(signal) {
      const stretch = await readEnd(read, signal);
      end = fold(stretch, end.told);
      return String(stretch.items.at(-1)?.seq ?? 0);
    },
    async readOlder(signal, through) {
      const stretch = await readOlder(read, part().stretch, signal);
      if (stretch.hasNewer) elsewhere = fold(stretch, [], through);
      else end = fold(stretch, end.told, through);
    },
    async readNewer(signal, through) {
      if (elsewhere) place(await readNewer(read, elsewhere.stretch, signal), through);
    },
    async readAround(item, signal) {
      const known = part().turns.of(item);
      if (known !== undefined && part().turns.get(known)) return known;
      const stretch = await readAround(read, item, signal);
      if (!stretch) return undefined;
      place(stretch);
      return part().turns.of(item);
    },
    toEnd() {
      elsewhere = undefined;
    },
    apply(event) {
      rememberStretch(end.told, event);
      const isKnown = end.turns.apply(event);
      return isKnown && (elsewhere !== undefined || end.told.length <= maxItems);
    },
    tell(said) {
      rememberStretch(end.told, said);
      said(end.turns);
    },
  };
}

function fold(stretch: Stretch, told: (RunEvent | TurnsUpdate)[], through?: string): LogStretch {
  const turns = createTurns();
  for (const item of stretch.items) turns.read(item);
  for (const said of told) {
    if (typeof said === "function") said(turns);
    else turns.apply(said);
  }
  if (through !== undefined && turns.get(through) && ![...turns.upFrom(turns.head())].some(({ id }) => id === through))
    turns.choose(turns.endOf(through));
  return { stretch, told, turns };
}
