import { useEffect } from "react";
import { words } from "../words.ts";

const asked = "colloquy-notify";

/** Whoever looks elsewhere is told that something waits: in the title, and by the browser where they allowed it. */
export function useAttention(waiting: number, about: string): void {
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${words.waiting} – Colloquy` : "Colloquy";
    if (waiting === 0 || document.visibilityState === "visible" || localStorage.getItem(asked) !== "yes") return;
    if (Notification.permission === "granted") new Notification(words.waiting, { body: about, tag: "colloquy-waits" });
  }, [waiting, about]);
}

/** Undefined: the browser has none, or the person said no to it. */
export function notifications(): boolean | undefined {
  if (!("Notification" in globalThis) || Notification.permission === "denied") return undefined;
  return Notification.permission === "granted" && localStorage.getItem(asked) === "yes";
}

export async function setNotifications(wanted: boolean): Promise<boolean> {
  const may = wanted && (await Notification.requestPermission()) === "granted";
  localStorage.setItem(asked, may ? "yes" : "no");
  return may;
}
