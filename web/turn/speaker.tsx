import type { ReactNode } from "react";

type SpeakerProps = {
  readonly name: string;
  /** Behind the name. */
  readonly children?: ReactNode;
};

/** Above a turn: who speaks, with a round mark in the colour that they have (`data-speaker` around it). */
export function Speaker({ name, children }: SpeakerProps) {
  return (
    <h2 className="speaker speaker-head">
      <span className="speaker-mark" aria-hidden>
        {initialOf(name)}
      </span>
      <span className="min-w-0 truncate">{name}</span>
      {children}
    </h2>
  );
}

function initialOf(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? "?").toLocaleUpperCase();
}
