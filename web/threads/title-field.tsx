import { useEffect, useRef } from "react";
import { t } from "@lingui/core/macro";

/** A title in the place where it stands: Enter or leaving takes it, Escape does not. */
export function TitleField({
  title,
  onDone,
}: {
  readonly title: string;
  /** Undefined: it stays as it was. */
  readonly onDone: (title: string | undefined) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => field.current?.select(), []);
  const done = (text: string | undefined) => {
    if (isDone.current) return;
    isDone.current = true;
    onDone(text === undefined || text.trim() === title ? undefined : text.trim());
  };
  return (
    <input
      ref={field}
      dir="auto"
      className="field w-full min-w-0"
      aria-label={t`Rename`}
      defaultValue={title}
      maxLength={500}
      autoFocus
      onBlur={({ target }) => done(target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.nativeEvent.isComposing) done(event.currentTarget.value);
        if (event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          done(undefined);
        }
      }}
    />
  );
}
