import { ComposerPrimitive } from "@assistant-ui/react";
import { SendHorizontal, Square } from "lucide-react";
import type { ReactNode } from "react";
import { useSubmitMode } from "../browser/send-key.ts";
import { words } from "../words/words.ts";
import { SendModeSwitch } from "./send-mode.tsx";

type ComposerProps = {
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
export function Composer({ tiles, tools, agent, isBusy, onStop }: ComposerProps) {
  return (
    <ComposerPrimitive.Root className="relative rounded-card border border-hairline bg-raised p-2 focus-within:border-accent">
      {tiles}
      <ComposerPrimitive.Input
        dir="auto"
        className="max-h-[40dvh] w-full resize-none bg-transparent px-2 py-1 outline-none"
        placeholder={words.messageTo(agent)}
        aria-label={words.message}
        rows={1}
        data-composer
        submitMode={useSubmitMode()}
        cancelOnEscape={false}
        autoFocus
      />
      <div className="composer-row" data-busy={isBusy || undefined}>
        {isBusy && <SendModeSwitch />}
        <div className="composer-tools">{tools}</div>
        {isBusy && (
          <button type="button" className="button" aria-label={words.stop} onClick={onStop}>
            <Square size={14} aria-hidden /> <span className="max-sm:sr-only">{words.stop}</span>
          </button>
        )}
        <ComposerPrimitive.Send className="button-main" aria-label={words.send}>
          <SendHorizontal size={16} aria-hidden />
        </ComposerPrimitive.Send>
      </div>
    </ComposerPrimitive.Root>
  );
}
