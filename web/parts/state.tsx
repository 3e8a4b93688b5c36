import type { ReactNode } from "react";
import { type Grade, marks } from "./grade.ts";

/** A state in words, with a shape and a colour. */
export function State({ grade, children }: { readonly grade: Grade; readonly children: ReactNode }) {
  const colour = { ok: "text-ok", busy: "text-accent", warn: "text-warn", bad: "text-bad", quiet: "text-muted" }[grade];
  return (
    <span className="whitespace-nowrap">
      <span aria-hidden className={colour}>
        {marks[grade]}
      </span>{" "}
      {children}
    </span>
  );
}
