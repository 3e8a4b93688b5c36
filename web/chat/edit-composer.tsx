import { ComposerPrimitive, useAui, useAuiState } from "@assistant-ui/react";
import { type KeyboardEvent, useId } from "react";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { words } from "../words/words.ts";
import { useTalk } from "./talk-actions.ts";
import { talkWords } from "../conversation/talk-words.ts";

/** A message that is changed: its words alone, or with another answer. No words are refused. */
export function EditComposer() {
  const aui = useAui();
  const { saveEdit, isBusy } = useTalk();
  const hintId = useId();
  const id = useAuiState(({ message }) => message.id);
  const text = useAuiState(({ message }) => message.composer.text);
  const isEmpty = text.trim() === "";
  const saving = useAct(async () => {
    await saveEdit(text.trim(), id);
    aui.composer.cancel();
  });
  const save = () => {
    if (!isEmpty && !isBusy && !saving.isBusy) saving.act();
  };
  return (
    <ComposerPrimitive.Root
      className="rounded-card border border-accent bg-raised p-2"
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        save();
      }}
    >
      <ComposerPrimitive.Input
        dir="auto"
        className="w-full resize-none bg-transparent px-2 py-1 outline-none"
        aria-label={words.edit}
        aria-describedby={hintId}
        autoFocus
      />
      <Problem text={saving.problem} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span id={hintId} className="grow px-2 text-xs text-muted">
          {talkWords.edit.hint}
        </span>
        <ComposerPrimitive.Cancel className="button">{words.cancel}</ComposerPrimitive.Cancel>
        <button type="button" className="button" disabled={isEmpty || isBusy || saving.isBusy} onClick={save}>
          {talkWords.edit.save}
        </button>
        <ComposerPrimitive.Send className="button-main" disabled={isEmpty || isBusy}>
          {talkWords.edit.rerun}
        </ComposerPrimitive.Send>
      </div>
    </ComposerPrimitive.Root>
  );
}
