import { useEffect, useRef, useSyncExternalStore } from "react";
import { t } from "@lingui/core/macro";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { createListeners } from "../browser/listeners.ts";
import { client, reasonOf } from "../page/server.ts";
import { draftOf, keepDraft } from "../conversation/drafts.ts";

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
  /** Another try would end alike. */
  readonly isHopeless?: boolean;
};

export type Attachments = {
  readonly all: readonly Attachment[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (key: string) => void;
  /** Uploads once more what did not arrive. */
  readonly again: (key: string) => void;
  /** None are left; a text says why they can't go yet. */
  readonly take: () => readonly Attachment[] | string;
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
  /** Chosen before it was known who one is. */
  const early = useRef<File[]>([]);
  useEffect(() => {
    if (place !== undefined) for (const file of early.current.splice(0)) upload(place, file);
  }, [place]);
  return {
    all,
    add(added) {
      if (place === undefined) early.current.push(...added);
      else for (const file of added) upload(place, file);
    },
    remove(key) {
      stops.get(key)?.abort();
      if (place !== undefined)
        set(
          place,
          filesAt(place).filter((each) => each.key !== key),
        );
    },
    again(key) {
      const file = all.find((each) => each.key === key)?.file;
      if (place !== undefined && file) upload(place, file, key);
    },
    take() {
      if (place === undefined)
        return early.current.length > 0 ? t`Wait for the uploads to finish, or remove the files.` : nothing;
      const taken = filesAt(place);
      const missing = taken.filter(({ id }) => id === undefined);
      const lost = missing.filter(({ problem }) => problem !== undefined);
      if (lost.length > 0)
        return t`These files failed to upload. Retry or remove them: ${{ names: lost.map(({ name }) => name).join(", ") }}.`;
      if (missing.length > 0) return t`Wait for the uploads to finish, or remove the files.`;
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

/** `again`: in the place of an earlier try. */
function upload(place: string, file: File, again?: string): void {
  const key = newId();
  const stop = new AbortController();
  const change = (to: Partial<Attachment>) =>
    set(
      place,
      filesAt(place).map((each) => (each.key === key ? { ...each, ...to } : each)),
    );
  const first: Attachment = { key, name: file.name, type: file.type, file, part: 0 };
  // No server takes it, now or later.
  const begun: Attachment = file.size === 0 ? { ...first, problem: t`This file is empty.`, isHopeless: true } : first;
  const others = filesAt(place);
  set(place, again === undefined ? [...others, begun] : others.map((each) => (each.key === again ? begun : each)));
  if (begun.isHopeless) return;
  stops.set(key, stop);
  client.uploads
    .send(file, { onProgress: (part) => change({ part }), signal: stop.signal })
    .then(({ id, problem }) => change({ id, part: 1, ...(problem === null ? {} : { problem }) }))
    .catch((error: unknown) => {
      const isHopeless = error instanceof ColloquyError && error.status === 413;
      if (!stop.signal.aborted) change({ problem: reasonOf(error), ...(isHopeless && { isHopeless }) });
    })
    .finally(() => stops.delete(key));
}
