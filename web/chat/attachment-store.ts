import { useSyncExternalStore } from "react";
import { newId } from "../../src/protocol/ids.ts";
import { createListeners } from "../listeners.ts";
import { client, reasonOf } from "../server.ts";
import { draftOf, keepDraft } from "./drafts.tsx";

export type Attachment = {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  /** Absent: it was uploaded before the page was loaded. */
  readonly file?: File;
  /** How much of it is there, from 0 to 1. */
  readonly part: number;
  /** Once the server has read it. */
  readonly id?: string;
  /** Why it can't be sent, or not be read. */
  readonly problem?: string;
};

export type Attachments = {
  readonly all: readonly Attachment[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (key: string) => void;
  /** None are left; undefined while some are on their way. */
  readonly take: () => readonly Attachment[] | undefined;
  /** Those that could not be sent. */
  readonly giveBack: (taken: readonly Attachment[]) => void;
};

/** Files that will go with the next message, by the place of its draft. */
const files = new Map<string, readonly Attachment[]>();
const stops = new Map<string, AbortController>();
const listeners = createListeners();
const nothing: readonly Attachment[] = [];

export function useAttachments(place: string | undefined): Attachments {
  const all = useSyncExternalStore(listeners.listen, () => (place === undefined ? nothing : filesAt(place)));
  return {
    all,
    add(added) {
      if (place !== undefined) for (const file of added) upload(place, file);
    },
    remove(key) {
      stops.get(key)?.abort();
      if (place !== undefined)
        set(
          place,
          filesAt(place).filter((each) => each.key !== key),
        );
    },
    take() {
      if (place === undefined) return nothing;
      const taken = filesAt(place);
      if (taken.some(({ id, problem }) => id === undefined && problem === undefined)) return undefined;
      set(place, nothing);
      return taken;
    },
    giveBack(taken) {
      if (place !== undefined && taken.length > 0) set(place, [...taken, ...filesAt(place)]);
    },
  };
}

/** What was uploaded stays over a reload. */
function filesAt(place: string): readonly Attachment[] {
  const known = files.get(place);
  if (known) return known;
  const kept = draftOf(place).files.map(({ id, name, type }) => ({ key: id, id, name, type, part: 1 }));
  files.set(place, kept);
  return kept;
}

function set(place: string, all: readonly Attachment[]): void {
  files.set(place, all);
  keepDraft(place, { files: all.flatMap(({ id, name, type }) => (id === undefined ? [] : [{ id, name, type }])) });
  listeners.tell();
}

function upload(place: string, file: File): void {
  const key = newId();
  const stop = new AbortController();
  stops.set(key, stop);
  const change = (to: Partial<Attachment>) =>
    set(
      place,
      filesAt(place).map((each) => (each.key === key ? { ...each, ...to } : each)),
    );
  set(place, [...filesAt(place), { key, name: file.name, type: file.type, file, part: 0 }]);
  client.uploads
    .send(file, { onProgress: (part) => change({ part }), signal: stop.signal })
    .then(({ id, problem }) => change({ id, part: 1, ...(problem === null ? {} : { problem }) }))
    .catch((error: unknown) => {
      if (!stop.signal.aborted) change({ problem: reasonOf(error) });
    })
    .finally(() => stops.delete(key));
}
