import { type KeyboardEvent, useId, useState } from "react";
import { t } from "@lingui/core/macro";
import { useSendKey } from "../browser/send-key.ts";
import { textOfTurn } from "../conversation/branch.ts";
import type { Turn } from "../conversation/turns.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { lastItemOf, useTalk } from "./talk-actions.ts";

/** A message that is changed: its words alone, or with another answer. No words are refused. */
export function EditComposer({ turn, onClose }: { readonly turn: Turn; readonly onClose: () => void }) {
  const { edit, saveEdit, isBusy } = useTalk();
  const hintId = useId();
  const isSendKey = useSendKey();
  const isAnswer = turn.role === "assistant";
  const before = isAnswer ? lastTextOf(turn) : textOfTurn(turn);
  const [text, setText] = useState(before);
  const isEmpty = text.trim() === "";
  const saving = useAct(async () => {
    await saveEdit(text.trim(), isAnswer ? (lastItemOf(turn) ?? turn.id) : turn.id);
    onClose();
  });
  const save = () => {
    if (!isEmpty && !isBusy && !saving.isBusy) saving.act();
  };
  const askAnew = () => {
    if (isEmpty || isBusy) return;
    if (isAnswer) return save();
    if (text !== before) void edit(text, turn.id);
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.nativeEvent.isComposing) {
      // It closes this, and stops nobody.
      event.preventDefault();
      onClose();
    }
    if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    save();
  };
  return (
    <form
      className="rounded-card border border-accent bg-raised p-2"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        askAnew();
      }}
    >
      <textarea
        dir="auto"
        className="field-sizing w-full resize-none bg-transparent px-2 py-1 outline-none"
        aria-label={t`Edit`}
        aria-describedby={hintId}
        autoFocus
        value={text}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(before.length, before.length)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return;
          event.preventDefault();
          askAnew();
        }}
      />
      <Problem text={saving.problem} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span id={hintId} className="grow px-2 text-xs text-muted">
          {isAnswer
            ? t`The first answer stays beside it. Later answers read yours.`
            : t`Save changes only this message. Later messages stay as they are.`}
        </span>
        <button type="button" className="button" onClick={onClose}>
          {t`Cancel`}
        </button>
        {!isAnswer && (
          <button type="button" className="button" disabled={isEmpty || isBusy || saving.isBusy} onClick={save}>
            {t`Save`}
          </button>
        )}
        <button type="submit" className="button-main" disabled={isEmpty || isBusy}>
          {isAnswer ? t`Save` : t`Save and rerun`}
        </button>
      </div>
    </form>
  );
}

/** Of an answer what was said at its end: only that can be said in other words. */
function lastTextOf({ blocks }: Turn): string {
  const last = blocks.findLast((block) => block.kind === "message" && block.text !== "");
  return last?.kind === "message" ? last.text : "";
}
