/** What does something when it is pressed and released. */
const controls = "a, button, summary, label, [role=button], [role=option], [role=menuitem]";
/** A release may get lost, as where a menu of the system comes up. */
const maxMs = 10_000;

let pressedAt = -Infinity;
const held = new Set<() => void>();

const options = { capture: true, passive: true };
addEventListener("pointerdown", pressed, options);
addEventListener("pointerup", released, options);
addEventListener("pointercancel", released, options);
// Of the window itself.
addEventListener("blur", released);

function pressed({ button, target }: PointerEvent): void {
  const isControl = button === 0 && target instanceof Element && target.closest(controls) !== null;
  pressedAt = isControl ? performance.now() : -Infinity;
  if (isControl) setTimeout(show, maxMs + 50);
}

function released(): void {
  pressedAt = -Infinity;
  // What is released is found where it was pressed.
  setTimeout(show);
}

function show(): void {
  if (isPressed()) return;
  const all = [...held];
  held.clear();
  for (const each of all) each();
}

function isPressed(): boolean {
  return performance.now() - pressedAt < maxMs;
}

/** Shows now what came, or once the control that a person presses is released: one that moved away meanwhile would do nothing. */
export function renderWhenReleased(what: () => void): void {
  if (isPressed()) held.add(what);
  else what();
}
