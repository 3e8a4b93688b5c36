import { type ComponentType, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import "./popover.css";

export type MenuEntry = {
  readonly name: string;
  readonly icon: ComponentType<{ readonly size?: number; readonly "aria-hidden"?: boolean }>;
  /** Does it here; `href` leads to a file instead. */
  readonly onChoose?: () => void;
  readonly href?: string;
  readonly isGrave?: boolean;
};

type MenuProps = {
  readonly name: string;
  readonly icon: MenuEntry["icon"];
  readonly entries: readonly MenuEntry[];
};

/** A button with what can be done behind it: by arrows, Enter and Escape as a menu is. */
export function Menu({ name, icon: Icon, entries }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (isByKey = false) => {
    setOpen(false);
    if (isByKey) button.current?.focus();
  };
  useClosing(frame, isOpen, close);
  useEffect(() => {
    if (!isOpen) return;
    frame.current?.querySelector("[role=menu]")?.scrollIntoView({ block: "nearest" });
    frame.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, [isOpen]);

  function onKeyDown(event: KeyboardEvent): void {
    const items = [...(frame.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.findIndex((item) => item === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items.at(to % items.length)?.focus();
  }

  return (
    <div ref={frame} className="relative flex-none">
      <button
        ref={button}
        type="button"
        className="icon-button"
        aria-label={name}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon size={16} aria-hidden />
      </button>
      {isOpen && (
        <div id={id} role="menu" aria-label={name} className="popover popover-below" onKeyDown={onKeyDown}>
          {entries.map((entry) => (
            <MenuItem key={entry.name} {...entry} onDone={() => close(true)} />
          ))}
        </div>
      )}
    </div>
  );
}

function MenuItem({ name, icon: Icon, onChoose, href, isGrave, onDone }: MenuEntry & { readonly onDone: () => void }) {
  const look = `popover-item ${isGrave ? "text-bad" : ""}`;
  const inside = (
    <>
      <Icon size={16} aria-hidden /> {name}
    </>
  );
  if (href !== undefined)
    return (
      <a role="menuitem" tabIndex={-1} className={look} href={href} download onClick={() => onDone()}>
        {inside}
      </a>
    );
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={look}
      onClick={() => {
        onDone();
        onChoose?.();
      }}
    >
      {inside}
    </button>
  );
}

/** Closed by Escape, and by a click or the focus elsewhere. */
export function useClosing(
  frame: { readonly current: HTMLElement | null },
  isOpen: boolean,
  onClose: (isByKey?: boolean) => void,
): void {
  const latest = useRef(onClose);
  latest.current = onClose;
  useEffect(() => {
    if (!isOpen) return;
    const isInside = (target: EventTarget | null) => target instanceof Node && !!frame.current?.contains(target);
    const onElsewhere = ({ target }: Event) => {
      if (!isInside(target)) latest.current();
    };
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      latest.current(true);
    };
    addEventListener("pointerdown", onElsewhere);
    addEventListener("focusin", onElsewhere);
    addEventListener("keydown", onKey, true);
    return () => {
      removeEventListener("pointerdown", onElsewhere);
      removeEventListener("focusin", onElsewhere);
      removeEventListener("keydown", onKey, true);
    };
  }, [frame, isOpen]);
}
