import { useEffect, useSyncExternalStore } from "react";
import { createListeners } from "../listeners.ts";

let said = "";
const listeners = createListeners();

/** Something was done that is seen nowhere else: it is told in a word, and read out. */
export function announce(text: string): void {
  said = text;
  listeners.tell();
}

export function Announced() {
  const text = useSyncExternalStore(listeners.listen, () => said);
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(() => announce(""), 3000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p role="status" className="announced">
      {text}
    </p>
  );
}
