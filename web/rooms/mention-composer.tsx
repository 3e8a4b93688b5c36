import { SendHorizontal } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { draftOf, keepDraft, useDraftPlace } from "../conversation/drafts.ts";
import { useSendKey } from "../browser/send-key.ts";

type MentionComposerProps = {
  readonly roomId: string;
  /** Whom one may call, without `@`. */
  readonly handles: readonly string[];
  /** True: it was taken, and the field is empty again. */
  readonly onSend: (text: string) => Promise<boolean>;
};

/** A message, with the members offered behind `@`: by the arrows and Enter or Tab, as a list box does it. */
export function MentionComposer({ roomId, handles, onSend }: MentionComposerProps) {
  const place = useDraftPlace(roomId);
  const [text, setShown] = useState("");
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const listId = useId();
  const isSendKey = useSendKey();
  const field = useRef<HTMLTextAreaElement>(null);
  const completedTo = useRef<number>(undefined);

  // Before the next key is taken: whoever types on at once writes behind the name.
  useLayoutEffect(() => {
    if (completedTo.current === undefined) return;
    field.current?.setSelectionRange(completedTo.current, completedTo.current);
    completedTo.current = undefined;
  });

  // What was not sent is there again, as in conversations.
  useEffect(() => {
    if (place !== undefined) setShown((now) => (now === "" ? draftOf(place).text : now));
  }, [place]);
  const setText = (next: string) => {
    setShown(next);
    if (place !== undefined) keepDraft(place, { text: next });
  };

  const typed = /(?:^|\s)@([\w-]*)$/.exec(text.slice(0, caret))?.[1];
  const fitting =
    typed === undefined || isClosed ? [] : handles.filter((handle) => handle.startsWith(typed.toLowerCase()));
  // A name that stands there whole is not offered: Enter sends.
  const offered = fitting.length === 1 && fitting[0] === typed?.toLowerCase() ? [] : fitting;
  const at = Math.min(chosen, offered.length - 1);

  function complete(handle: string): void {
    const start = caret - (typed?.length ?? 0);
    const before = `${text.slice(0, start)}${handle} `;
    setText(before + text.slice(caret).replace(/^ /, ""));
    setCaret(before.length);
    setChosen(0);
    completedTo.current = before.length;
  }

  async function send(): Promise<void> {
    const said = text.trim();
    if (said === "") return;
    // At once, so that it is not sent twice; it comes back if it can't be sent, before what was typed since.
    setText("");
    if (await onSend(said)) return;
    const now = field.current?.value ?? "";
    setText(now === "" ? said : `${said}\n${now}`);
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (event.nativeEvent.isComposing) return;
    const handle = offered[at];
    if (handle !== undefined && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      return complete(handle);
    }
    if (offered.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      return setChosen((at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
    }
    if (event.key === "Escape" && offered.length > 0) {
      // It closes the list, and stops nobody.
      event.preventDefault();
      return setClosed(true);
    }
    if (isSendKey(event)) {
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
          <ul id={listId} role="listbox" aria-label={t`Members`} className="mention-list">
            {offered.map((handle, index) => (
              <li
                key={handle}
                id={`${listId}-${handle}`}
                role="option"
                aria-selected={index === at}
                onMouseDown={(event) => {
                  event.preventDefault();
                  complete(handle);
                }}
              >
                @{handle}
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={field}
          dir="auto"
          className="field-sizing max-h-[40dvh] w-full resize-none bg-transparent px-2 py-1 outline-none"
          rows={1}
          autoFocus
          data-composer
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={offered.length > 0}
          aria-controls={listId}
          aria-activedescendant={offered[at] === undefined ? undefined : `${listId}-${offered[at]}`}
          aria-label={t`Message`}
          placeholder={t`Message everyone; use @name to mention someone`}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart);
            setClosed(false);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" className="button-main" aria-label={t`Send`} disabled={text.trim() === ""}>
          <SendHorizontal size={16} aria-hidden />
        </button>
      </div>
    </form>
  );
}
