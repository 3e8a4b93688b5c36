import { ChevronDown } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useClosing } from "./menu.tsx";
import "./popover.css";

export type ListOption = {
  readonly value: string;
  readonly name: string;
  /** Below the name: what it is, how it does. */
  readonly about?: ReactNode;
  /** What a search looks at beside the name. */
  readonly words?: string;
  readonly isDisabled?: boolean;
};

type ListBoxProps = {
  readonly name: string;
  readonly value: string;
  readonly options: readonly ListOption[];
  readonly onChange: (value: string) => void;
  /** Label of the search; with it and more options than fit on a look there is one. */
  readonly search: string;
  readonly nothing: string;
};

const fewOptions = 7;

/** One of several, each with words about it: chosen by arrows and Enter, found by typing. */
export function ListBox({ name, value, options, onChange, search, nothing }: ListBoxProps) {
  const [isOpen, setOpen] = useState(false);
  const [sought, setSought] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const hasSearch = options.length > fewOptions;
  const found = options.filter(({ name: text, words = "" }) =>
    `${text} ${words}`.toLowerCase().includes(sought.trim().toLowerCase()),
  );
  const current = found[Math.min(at, found.length - 1)];
  const chosen = options.find((option) => option.value === value);

  const close = (isByKey = false) => {
    setOpen(false);
    setSought("");
    if (isByKey) button.current?.focus();
  };
  useClosing(frame, isOpen, close);
  useEffect(() => {
    if (!isOpen) return;
    setAt(
      Math.max(
        0,
        options.findIndex((option) => option.value === value),
      ),
    );
    frame.current?.querySelector<HTMLElement>("[data-keys]")?.focus();
  }, [isOpen]);
  useEffect(() => {
    frame.current?.querySelector("[data-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [current, isOpen]);

  function choose(option: ListOption | undefined): void {
    if (!option || option.isDisabled) return;
    onChange(option.value);
    close(true);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" || (event.key === " " && !hasSearch)) {
      event.preventDefault();
      return choose(current);
    }
    if (event.key === "Tab") return close();
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: found.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(to, found.length - 1)));
  }

  const keys = {
    "data-keys": true,
    onKeyDown,
    "aria-activedescendant": current ? `${id}-${found.indexOf(current)}` : undefined,
  };
  return (
    <div ref={frame} className="picker-frame">
      <button
        ref={button}
        type="button"
        className="picker-button"
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-label={`${name}: ${chosen?.name ?? value}`}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (isOpen || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        <span className="truncate">{chosen?.name ?? value}</span>{" "}
        <ChevronDown size={14} aria-hidden className="flex-none" />
      </button>
      {isOpen && (
        <div className="popover popover-above picker-list">
          {hasSearch && (
            <input
              className="field mb-1 w-full"
              role="combobox"
              aria-expanded
              aria-controls={id}
              aria-autocomplete="list"
              aria-label={search}
              placeholder={search}
              value={sought}
              onChange={(event) => {
                setSought(event.target.value);
                setAt(0);
              }}
              {...keys}
            />
          )}
          <ul
            id={id}
            role="listbox"
            aria-label={name}
            className="max-h-[min(20rem,45dvh)] overflow-y-auto"
            tabIndex={hasSearch ? -1 : 0}
            {...(hasSearch ? {} : keys)}
          >
            {found.map((option, place) => (
              <li
                key={option.value}
                id={`${id}-${place}`}
                role="option"
                aria-selected={option.value === value}
                aria-disabled={option.isDisabled || undefined}
                data-current={option === current}
                className="popover-item picker-option"
                onClick={() => choose(option)}
              >
                <span className="font-semibold">{option.name}</span>
                {option.about !== undefined && <span className="text-xs text-muted">{option.about}</span>}
              </li>
            ))}
          </ul>
          {found.length === 0 && <p className="px-2 py-1 text-muted">{nothing}</p>}
        </div>
      )}
    </div>
  );
}
