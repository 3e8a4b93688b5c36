import { useEffect } from "react";
import { t } from "@lingui/core/macro";
import { createStoredChoice } from "../browser/stored-choice.ts";
import { goTo } from "../page/path.ts";
import { client } from "../page/server.ts";
import { onWaiting, useAttentionOfAll } from "./waiting-threads.ts";
import { showWaiting } from "../page/title.ts";

/** `yes`: where the browser allows it too. */
const wish = createStoredChoice("notify");

/** Whoever looks elsewhere is told that something waits, in whatever conversation: in the title, by the icon, by the browser. */
export function useAttention(): void {
  const { waiting } = useAttentionOfAll();
  useEffect(() => {
    showWaiting(waiting.size);
    markIcon(waiting.size > 0);
  }, [waiting.size]);
  useEffect(() => onWaiting((run, thread) => void notify(run, thread)), []);
}

async function notify(run: string, thread: string): Promise<void> {
  if (document.visibilityState === "visible" || notifications() !== true) return;
  const { questions } = await client.run(run).catch(() => ({ questions: [] }));
  const said = { body: questions[0]?.text ?? "", tag: `colloquy-${run}` };
  try {
    const told = new Notification(t`needs your input`, said);
    told.onclick = () => {
      focus();
      void pathOf(thread).then(goTo);
      told.close();
    };
  } catch {
    // Browsers of phones let only a service worker tell; ours leads there.
    const worker = await navigator.serviceWorker?.ready;
    await worker?.showNotification(t`needs your input`, { ...said, data: (await pathOf(thread)).slice(1) });
  }
}

function pathOf(thread: string): Promise<string> {
  return client.rooms.get(thread).then(
    () => `/rooms/${thread}`,
    () => `/chat/${thread}`,
  );
}

let plainIcon: string | undefined;
/** The mark with an amber dot: the same as mark.svg otherwise. */
const markedIcon =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4753b8"/>' +
      '<path d="M7 20v-5c0-3.3 1.7-5.4 5-6v2.4c-1.5.5-2.3 1.5-2.3 3.1H12V20zM25 12v5c0 3.3-1.7 5.4-5 6v-2.4c1.5-.5 2.3-1.5 2.3-3.1H20V12z" fill="#fff"/>' +
      '<circle cx="25" cy="25" r="7" fill="#f0a020" stroke="#fff" stroke-width="2"/></svg>',
  );

function markIcon(isMarked: boolean): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!icon) return;
  plainIcon ??= icon.href;
  icon.href = isMarked ? markedIcon : plainIcon;
}

/** Undefined: the browser has none, or the person said no to it. */
export function useNotifications(): boolean | undefined {
  wish.use();
  return notifications();
}

function notifications(): boolean | undefined {
  if (!("Notification" in globalThis) || Notification.permission === "denied") return undefined;
  return Notification.permission === "granted" && wish.get() === "yes";
}

export async function setNotifications(wanted: boolean): Promise<void> {
  const may = wanted && (await Notification.requestPermission()) === "granted";
  wish.set(may ? "yes" : "no");
}
