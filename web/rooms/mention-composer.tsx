import { SendHorizontal } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { words } from "../words.ts";

type MentionComposerProps = {
  /** Whom one may call, without `@`. */
  readonly handles: readonly string[];
  /** True: it was taken, and the field is empty again. */
  readonly onSend: (text: string) => Promise<boolean>;
};

/** A message, with the members offered behind `@`: by the arrows and Enter or Tab, as a list box does it. */
export function MentionComposer({ handles, onSend }: MentionComposerProps) {
  const [text, setText] = useState("");
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const listId = useId();

  const typed = /(?:^|\s)@([\w-]*)$/.exec(text.slice(0, caret))?.[1];
  const offered =
    typed === undefined || isClosed ? [] : handles.filter((handle) => handle.startsWith(typed.toLowerCase()));
  const at = Math.min(chosen, offered.length - 1);

  function complete(handle: string, field: HTMLTextAreaElement): void {
    const start = caret - (typed?.length ?? 0);
    const before = `${text.slice(0, start)}${handle} `;
    setText(before + text.slice(caret).replace(/^ /, ""));
    setCaret(before.length);
    setChosen(0);
    requestAnimationFrame(() => field.setSelectionRange(before.length, before.length));
  }

  async function send(): Promise<void> {
    const said = text.trim();
    if (said === "") return;
    // At once, so that it is not sent twice; it comes back if it can't be sent and nothing else was begun.
    setText("");
    if (!(await onSend(said))) setText((now) => (now === "" ? said : now));
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (event.nativeEvent.isComposing) return;
    const handle = offered[at];
    if (handle !== undefined && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      return complete(handle, event.currentTarget);
    }
    if (offered.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      return setChosen((at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
    }
    if (event.key === "Escape") return setClosed(true);
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    }
  }

  return (
    <form
      className="mx-auto w-full max-w-[48rem] px-4 pb-4"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div className="relative flex items-end gap-2 rounded-card border border-hairline bg-raised p-2 focus-within:border-accent">
        {offered.length > 0 && (
          <ul id={listId} role="listbox" aria-label={words.rooms.members} className="mention-list">
            {offered.map((handle, index) => (
              <li
                key={handle}
                id={`${listId}-${handle}`}
                role="option"
                aria-selected={index === at}
                onMouseDown={(event) => {
                  event.preventDefault();
                  const field = event.currentTarget.closest("form")?.querySelector("textarea");
                  if (field) complete(handle, field);
                }}
              >
                @{handle}
              </li>
            ))}
          </ul>
        )}
        <textarea
          className="field-sizing max-h-[40dvh] w-full resize-none bg-transparent px-2 py-1 outline-none"
          rows={1}
          autoFocus
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={offered.length > 0}
          aria-controls={listId}
          aria-activedescendant={offered[at] === undefined ? undefined : `${listId}-${offered[at]}`}
          aria-label={words.message}
          placeholder={words.rooms.write}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart);
            setClosed(false);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" className="button-main" aria-label={words.send} disabled={text.trim() === ""}>
          <SendHorizontal size={16} aria-hidden />
        </button>
      </div>
    </form>
  );
}
