import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { createStoredChoice } from "./stored-choice.ts";
import { isPlain, keysOf, type ShortcutKeys } from "./keys.ts";

/**
 * What keys do, wherever the page has somebody who does it. `Mod` is Ctrl, on a Mac ⌘; `G C` is one after the other. Plain
 * keys count outside of fields only.
 */
export const defaultKeys = {
  "new-conversation": "Mod+Shift+O",
  palette: "Mod+K",
  search: "/",
  "toggle-list": "Mod+B",
  "focus-composer": "Shift+Escape",
  stop: "Escape",
  "copy-last-reply": "Mod+Shift+L",
  "answer-again": "Mod+Shift+F",
  theme: "G D",
  help: "?",
  "go-chat": "G C",
  "go-rooms": "G R",
  "go-tasks": "G T",
  "go-taiga": "G I",
  "go-schedules": "G H",
  "go-runs": "G U",
  "go-knowledge": "G K",
  "go-admin": "G A",
  "go-settings": "G S",
} as const satisfies Readonly<Record<string, ShortcutKeys>>;

export type ShortcutName = keyof typeof defaultKeys;
export const actions = Object.keys(defaultKeys) as readonly ShortcutName[];

export type Shortcuts = {
  /** Whether any count. */
  readonly isOn: boolean;
  /** Empty: switched off. */
  readonly keys: Readonly<Record<ShortcutName, ShortcutKeys>>;
};

/** Only what differs from the defaults. */
const store = createStoredChoice("shortcuts");
let known = { text: "", shortcuts: parse("") };

function shortcutsNow(): Shortcuts {
  const text = store.get();
  if (text !== known.text) known = { text, shortcuts: parse(text) };
  return known.shortcuts;
}

export function useShortcuts(): Shortcuts {
  return useSyncExternalStore(store.onChange, shortcutsNow);
}

export function setShortcuts({ isOn, keys }: Shortcuts): void {
  const own = Object.fromEntries(actions.filter((each) => keys[each] !== defaultKeys[each]).map((a) => [a, keys[a]]));
  store.set(isOn && Object.keys(own).length === 0 ? "" : JSON.stringify({ isOn, keys: own }));
}

/** What a browser kept may be of another version, or of anybody's making. */
function parse(text: string): Shortcuts {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    kept = {};
  }
  const { isOn, keys } = (kept ?? {}) as { readonly isOn?: unknown; readonly keys?: Readonly<Record<string, unknown>> };
  const own = (action: ShortcutName) => {
    const value = keys?.[action];
    return typeof value === "string" && value.length < 60 ? value : defaultKeys[action];
  };
  return {
    isOn: isOn !== false,
    keys: Object.fromEntries(actions.map((each) => [each, own(each)])) as Record<ShortcutName, ShortcutKeys>,
  };
}

type Handler = () => void;
/** Who came last does it. */
const handlers = new Map<ShortcutName, Handler[]>();

/** While the component is shown, and `isOn`, the action's keys call `handler`. */
export function useShortcut(action: ShortcutName, handler: Handler, isOn = true): void {
  const latest = useEffectEvent(handler);
  useEffect(() => {
    if (!isOn) return;
    const call = () => latest();
    handlers.set(action, [...(handlers.get(action) ?? []), call]);
    return () => {
      handlers.set(
        action,
        (handlers.get(action) ?? []).filter((each) => each !== call),
      );
    };
  }, [action, isOn]);
}

/** The first of two keys, and until when the second counts. */
let begun: { readonly key: ShortcutKeys; readonly until: number } | undefined;

addEventListener("keydown", (event) => {
  const { isOn, keys } = shortcutsNow();
  if (!isOn || event.defaultPrevented || event.isComposing || event.repeat) return;
  // A dialog has its own keys, and nothing behind it is meant.
  if (document.querySelector("dialog:modal")) return;
  const pressed = keysOf(event);
  if (pressed === undefined) return;
  if (isPlain(pressed) && isField(event.target)) return;
  // In a search, Escape empties it.
  if (pressed === "Escape" && event.target instanceof HTMLElement && event.target.matches("input, select")) return;
  const both = begun && begun.until > event.timeStamp ? `${begun.key} ${pressed}` : undefined;
  begun = undefined;
  const meant = actions.find((each) => keys[each] !== "" && (keys[each] === both || keys[each] === pressed));
  const handler = meant && handlers.get(meant)?.at(-1);
  if (handler) {
    event.preventDefault();
    handler();
  } else if (actions.some((each) => keys[each].startsWith(`${pressed} `)))
    begun = { key: pressed, until: event.timeStamp + 1500 };
});

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
