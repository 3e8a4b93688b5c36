import type { ReactNode } from "react";
import { marks } from "./grade.ts";

/** Worth knowing, and in the way of nothing; of any length. */
export function Note({ children }: { readonly children: ReactNode }) {
  return (
    <div>
      <span aria-hidden className="text-warn">
        {marks.warn}
      </span>{" "}
      {children}
    </div>
  );
}
