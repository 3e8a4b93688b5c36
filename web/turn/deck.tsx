import { ChevronLeft, ChevronRight } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { t } from "@lingui/core/macro";
import { addressOfFile, isPicture, type MadeFile } from "../markdown/made-files.ts";
import { PictureButton } from "../markdown/picture.tsx";

/** Slides, one at a time: by the buttons or the arrow keys. */
export function DeckView({ deck: { name, pages }, root }: { readonly deck: Deck; readonly root: string }) {
  const [at, setAt] = useState(0);
  const page = pages[Math.min(at, pages.length - 1)];
  if (!page) return null;
  const go = (by: number) => setAt(Math.max(0, Math.min(at + by, pages.length - 1)));
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === "ArrowLeft") go(-1);
    if (key === "ArrowRight") go(1);
  };
  const title = name.slice(name.lastIndexOf("/") + 1);
  const slide = t`slide ${{ at: at + 1 }} of ${{ all: pages.length }}`;
  return (
    <section aria-label={t`Slides: ${{ name: title }}`} className="deck" onKeyDown={onKeyDown}>
      <PictureButton
        key={page.path}
        address={addressOfFile(root, page.path, page.version)}
        name={`${title}, ${slide}`}
      />
      <div className="flex items-center gap-1 text-sm">
        {/* Not disabled at an end, so that the focus stays. */}
        <button
          type="button"
          className="icon-button"
          aria-label={t`Previous slide`}
          aria-disabled={at === 0}
          onClick={() => go(-1)}
        >
          <ChevronLeft size={16} aria-hidden />
        </button>
        <span role="status" className="text-muted">
          {slide}
        </span>
        <button
          type="button"
          className="icon-button"
          aria-label={t`Next slide`}
          aria-disabled={at >= pages.length - 1}
          onClick={() => go(1)}
        >
          <ChevronRight size={16} aria-hidden />
        </button>
        <span className="min-w-0 truncate" title={name}>
          {title}
        </span>
      </div>
    </section>
  );
}

/** Slides as pictures, in their order. */
type Deck = { readonly name: string; readonly pages: readonly MadeFile[] };

/** `talk.001.png` and so on beside `talk.md`, `talk.pptx` or the like are the pages of one deck; what is none is the rest. */
export function decksIn(files: readonly MadeFile[]): {
  readonly decks: readonly Deck[];
  readonly rest: readonly MadeFile[];
} {
  const documents = new Set(files.flatMap(({ path }) => /^(.+)\.(?:pptx|pdf|html|md)$/.exec(path)?.[1] ?? []));
  const decks = new Map<string, MadeFile[]>();
  const rest: MadeFile[] = [];
  for (const file of files) {
    const name = isPicture(file) ? /^(.+)\.\d{1,4}\.\w+$/.exec(file.path)?.[1] : undefined;
    if (name === undefined || !documents.has(name)) rest.push(file);
    else decks.set(name, [...(decks.get(name) ?? []), file]);
  }
  return {
    decks: [...decks].map(([name, pages]) => ({ name, pages: pages.toSorted((a, b) => numberOf(a) - numberOf(b)) })),
    rest,
  };
}

function numberOf({ path }: MadeFile): number {
  return Number(/\.(\d+)\.\w+$/.exec(path)?.[1]);
}
