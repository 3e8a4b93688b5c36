import { lazy, Suspense } from "react";
import { KeptFromFalling } from "../kept-from-falling.tsx";

/** Begins at once, but the first view does not wait for it. */
const loading = import("./markdown.tsx");
const Markdown = lazy(async () => ({ default: (await loading).Markdown }));

/** A text as Markdown; until what formats it is there, as it is. */
export function Formatted({ text }: { readonly text: string }) {
  const asItIs = <p className="whitespace-pre-wrap">{text}</p>;
  return (
    <KeptFromFalling instead={asItIs}>
      <Suspense fallback={asItIs}>
        <Markdown text={text} />
      </Suspense>
    </KeptFromFalling>
  );
}
