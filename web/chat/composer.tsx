import { SendHorizontal, Square } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { t } from "@lingui/core/macro";
import { useSendKey } from "../browser/send-key.ts";
import type { ComposerText } from "../conversation/composer-text.ts";
import { SendModeMenu } from "./send-mode.tsx";

type ComposerProps = {
  readonly text: ComposerText;
  readonly onSend: () => void;
  /** Of files that will go with the message. */
  readonly tiles: ReactNode;
  readonly tools: ReactNode;
  /** Who will answer. */
  readonly agent: string;
  /** Also while it waits for somebody. */
  readonly isBusy: boolean;
  readonly onStop: () => void;
};

/** Where one writes: with who answers, files, and while an agent works when it is sent. */
export function Composer({ text, onSend, tiles, tools, agent, isBusy, onStop }: ComposerProps) {
  const typed = text.use();
  const isEmpty = typed.trim() === "";
  const isSendKey = useSendKey();
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <form
      className="relative rounded-card border border-hairline bg-raised p-2 focus-within:border-accent"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
        field.current?.focus();
      }}
    >
      {tiles}
      <textarea
        ref={field}
        dir="auto"
        className="field-sizing max-h-[40dvh] w-full resize-none bg-transparent px-2 py-1 outline-none"
        placeholder={t`Message @${agent}`}
        aria-label={t`Message`}
        rows={1}
        data-composer
        autoFocus
        value={typed}
        onChange={(event) => text.set(event.target.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return;
          event.preventDefault();
          onSend();
        }}
      />
      <div className="composer-row">
        <div className="composer-tools">{tools}</div>
        {isBusy && (
          <button
            type="button"
            className={isEmpty ? "button-main" : "icon-button"}
            aria-label={t`Stop`}
            // The second click of a double one was meant for Send, which stood here.
            onClick={({ detail }) => {
              if (detail > 1) return;
              onStop();
              field.current?.focus();
            }}
          >
            <Square size={14} aria-hidden />
          </button>
        )}
        {isBusy && !isEmpty && <SendModeMenu />}
        {!(isBusy && isEmpty) && (
          <button type="submit" className="button-main" aria-label={t`Send`} disabled={isEmpty}>
            <SendHorizontal size={16} aria-hidden />
          </button>
        )}
      </div>
    </form>
  );
}
