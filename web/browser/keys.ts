/** Keys as they are written down: `Mod+Shift+O`, `?`, `G C`. */
export type ShortcutKeys = string;

const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);

/** What was pressed; undefined for a modifier alone, or what makes no key. */
export function keysOf(event: KeyboardEvent): ShortcutKeys | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (["Control", "Shift", "Alt", "AltGraph", "Meta", "Dead", "Unidentified", "Process"].includes(key))
    return undefined;
  const hasMod = isMac ? metaKey : ctrlKey;
  const other = isMac ? ctrlKey : metaKey;
  // With AltGr one writes characters.
  const isWriting = event.getModifierState("AltGraph");
  const name = key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key;
  // Shift is part of a sign such as `?`, and beside a letter or a named key.
  const showsShift = shiftKey && (hasMod || key.length > 1 || /^\p{L}$/u.test(key));
  return [
    hasMod && !isWriting && "Mod",
    other && (isMac ? "Ctrl" : "Meta"),
    altKey && !isWriting && "Alt",
    showsShift && "Shift",
    name,
  ]
    .filter((part) => part !== false)
    .join("+");
}

/** Keys that write something where one can write. */
export function isPlain(keys: ShortcutKeys): boolean {
  return !/^(?:Mod|Ctrl|Meta|Alt)\+/.test(keys) && !/(?:^|\+)(?:Escape|F\d+)$/.test(keys);
}

/** For people, and as `aria-keyshortcuts` has it. */
export function shownKeys(keys: ShortcutKeys): readonly (readonly string[])[] {
  return keys.split(" ").map((press) => {
    // The last part may be the sign + itself.
    const parts = press.endsWith("++") ? [...press.slice(0, -2).split("+"), "+"] : press.split("+");
    return parts.map((part) => (isMac ? (macSigns[part] ?? part) : (names[part] ?? part)));
  });
}

const names: Readonly<Record<string, string>> = {
  Mod: "Ctrl",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
};
const macSigns: Readonly<Record<string, string>> = { ...names, Mod: "⌘", Ctrl: "⌃", Alt: "⌥", Shift: "⇧" };

/** What browsers keep for themselves: a page never sees these, or must not take them. */
const reserved = new Set([
  ...["N", "T", "W", "Q", "Shift+N", "Shift+T", "Shift+W", "Shift+P", "Shift+Q", "Tab", "Shift+Tab"],
  ...["PageUp", "PageDown", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0"],
]);
/** What people need for writing and reading. */
const needed = new Set(["A", "C", "V", "X", "Z", "Y", "Shift+Z", "Shift+V", "F", "R", "Shift+R", "L", "P", "+", "-"]);

export function reservedFor(keys: ShortcutKeys): "browser" | "editing" | undefined {
  if (["Tab", "Shift+Tab", "Enter", "Space", "F5", "F11", "F12", "Alt+F4", "Escape"].includes(keys)) return "browser";
  if (!keys.startsWith("Mod+")) return undefined;
  const rest = keys.slice(4);
  return reserved.has(rest) ? "browser" : needed.has(rest) ? "editing" : undefined;
}
