import { useSyncExternalStore } from "react";
import { createListeners } from "./listeners.ts";

/** A choice that this browser keeps, in step between its tabs. */
export type StoredChoice = {
  readonly get: () => string;
  readonly set: (value: string) => void;
  readonly use: () => string;
  /** Also when another tab chose. */
  readonly onChange: (listener: () => void) => () => void;
};

/** Empty until something is chosen. Where a browser keeps nothing for us, it holds until the page is left. */
export function createStoredChoice(name: string): StoredChoice {
  const key = `colloquy-${name}`;
  const listeners = createListeners();
  let value = read(key);
  const take = (next: string) => {
    if (next === value) return;
    value = next;
    listeners.tell();
  };
  addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) take(event.newValue ?? "");
  });
  // A page that one goes back to heard nothing meanwhile.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) take(read(key));
  });
  const get = () => value;
  return {
    get,
    set(next) {
      write(key, next);
      take(next);
    },
    use: () => useSyncExternalStore(listeners.listen, get),
    onChange: listeners.listen,
  };
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Kept until the page is left.
  }
}
