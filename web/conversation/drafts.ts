import { useEffect, useRef } from "react";
import { createStoredChoice } from "../browser/stored-choice.ts";
import { useMe } from "../page/me.ts";
import { prepareMarkdown } from "../markdown/load-markdown.ts";
import type { ComposerText } from "./composer-text.ts";

/** Of a file that the server has. */
export type DraftFile = { readonly id: string; readonly name: string; readonly type: string };
type MessageDraft = { readonly text: string; readonly files: readonly DraftFile[] };

/** What was typed and not sent, by person and conversation; the oldest go. */
const store = createStoredChoice("drafts");
const maxDrafts = 50;
const none: MessageDraft = { text: "", files: [] };
/** Of a conversation that has not begun. */
const beginning = "new";

const pauseMs = 300;
/** In the composer, and not kept yet. */
let unkept: { readonly place: string; readonly text: string } | undefined;

/** Texts that come back to a composer which is shown, by its conversation. */
const returns = new Map<string, (text: string) => void>();
/** What came back while its composer was not shown and nobody knew whose it is. */
const unplaced = new Map<string, string>();

/** Where one's draft is kept; undefined until it is known who one is. */
export function useDraftPlace(threadId: string | undefined): string | undefined {
  const me = useMe();
  return me && `${me.id}/${threadId ?? beginning}`;
}

export function draftOf(place: string): MessageDraft {
  keepNow();
  return { ...none, ...all()[place] };
}

export function keepDraft(place: string, change: Partial<MessageDraft>): void {
  keepNow();
  write(place, change);
}

/** All drafts are written at once: not with each key, but some times a second, and where one leaves. */
function keepSoon(place: string, text: string): void {
  if (text === "") return keepDraft(place, { text });
  if (unkept && unkept.place !== place) keepNow();
  if (!unkept) setTimeout(keepNow, pauseMs);
  unkept = { place, text };
}

function keepNow(): void {
  if (!unkept) return;
  const { place, text } = unkept;
  unkept = undefined;
  write(place, { text });
}

addEventListener("pagehide", keepNow);
addEventListener("visibilitychange", keepNow);

function write(place: string, change: Partial<MessageDraft>): void {
  const { [place]: before, ...others } = all();
  const draft = { ...none, ...before, ...change };
  const isEmpty = draft.text === "" && draft.files.length === 0;
  if (isEmpty && !before) return;
  const entries = Object.entries(others).slice(isEmpty ? 0 : 1 - maxDrafts);
  store.set(JSON.stringify(Object.fromEntries(isEmpty ? entries : [...entries, [place, draft]])));
}

/** What could not be sent stands in the composer again, before what was typed since; also where it is not known yet who one is. */
export function restoreDraft({ threadId, place }: Draft, text: string): void {
  const thread = threadId ?? beginning;
  const back = returns.get(thread);
  if (back) return back(text);
  if (place === undefined) return void unplaced.set(thread, text);
  const { text: typed } = draftOf(place);
  keepDraft(place, { text: typed === "" ? text : `${text}\n${typed}` });
}

type Draft = { readonly threadId: string | undefined; readonly place: string | undefined };

/** Keeps what is typed in the composer, and brings back what was. */
export function useDraft(text: ComposerText, { threadId, place }: Draft): void {
  const isFirst = useRef(true);

  useEffect(() => text.onChange(prepareMarkdown), [text]);

  useEffect(() => {
    if (place === undefined) return undefined;
    // What was typed before it was known who types.
    const early = isFirst.current ? text.get() : "";
    isFirst.current = false;
    if (early === "") text.set(draftOf(place).text);
    else keepDraft(place, { text: early });
    return text.onChange(() => keepSoon(place, text.get()));
  }, [text, place]);

  useEffect(() => {
    const thread = threadId ?? beginning;
    const back = (unsent: string) => {
      const now = text.get();
      text.set(now === "" || now === unsent ? unsent : `${unsent}\n${now}`);
    };
    returns.set(thread, back);
    const late = unplaced.get(thread);
    unplaced.delete(thread);
    if (late !== undefined) back(late);
    return () => void returns.delete(thread);
  }, [text, threadId]);
}

function all(): Readonly<Record<string, MessageDraft>> {
  try {
    const drafts: unknown = JSON.parse(store.get());
    return typeof drafts === "object" && drafts !== null ? (drafts as Record<string, MessageDraft>) : {};
  } catch {
    return {};
  }
}
