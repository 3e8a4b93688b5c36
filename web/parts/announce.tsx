import { useEffect, useSyncExternalStore } from "react";
import { t } from "@lingui/core/macro";
import { createListeners } from "../browser/listeners.ts";

type Announcement = { readonly text: string; /** What takes it back. */ readonly undo?: (() => void) | undefined };

const nothing: Announcement = { text: "" };
let said = nothing;
const listeners = createListeners();
const [toReadMs, toUndoMs] = [3000, 10_000];

/** Something was done that is seen nowhere else: it is told in a word, and read out. */
export function announce(text: string, undo?: () => void): void {
  tell({ text, undo });
}

function tell(next: Announcement): void {
  said = next;
  listeners.tell();
}

export function AnnouncementRegion() {
  const now = useSyncExternalStore(listeners.listen, () => said);
  const { text, undo } = now;
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(() => tell(nothing), undo ? toUndoMs : toReadMs);
    return () => clearTimeout(timer);
  }, [now]);
  return (
    <p role="status" className="announced">
      {text}
      {undo && (
        <button
          type="button"
          className="announced-undo"
          onClick={() => {
            tell(nothing);
            undo();
          }}
        >
          {t`Undo`}
        </button>
      )}
    </p>
  );
}
