import { lazy, Suspense } from "react";

/** Begins at once, but the first view does not wait for it. */
const loading = import("./markdown.tsx");
const Markdown = lazy(async () => ({ default: (await loading).Markdown }));

/** A text as Markdown; until what formats it is there, as it is. */
export function Formatted({ text }: { readonly text: string }) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
      <Markdown text={text} />
    </Suspense>
  );
}
