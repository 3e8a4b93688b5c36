import { useState, useSyncExternalStore } from "react";
import { createListeners } from "../browser/listeners.ts";

/** What stands in the composer. Only what shows it is rendered again with each key. */
export type ComposerText = {
  readonly get: () => string;
  readonly set: (text: string) => void;
  readonly use: () => string;
  readonly onChange: (listener: () => void) => () => void;
};

function createComposerText(): ComposerText {
  const listeners = createListeners();
  let text = "";
  const get = () => text;
  return {
    get,
    set(next) {
      if (next === text) return;
      text = next;
      listeners.tell();
    },
    use: () => useSyncExternalStore(listeners.listen, get),
    onChange: listeners.listen,
  };
}

/** Of the composer that this component shows, as long as it is shown. */
export function useComposerText(): ComposerText {
  return useState(createComposerText)[0];
}
