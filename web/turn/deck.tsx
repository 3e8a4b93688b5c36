import { ChevronLeft, ChevronRight } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { words } from "../words.ts";
import type { Deck } from "./decks.ts";
import { addressOfFile } from "./made-files.ts";
import { PictureButton } from "./picture.tsx";

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
  const slide = words.turn.slide(at + 1, pages.length);
  return (
    <section aria-label={words.turn.slides(title)} className="deck" onKeyDown={onKeyDown}>
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
          aria-label={words.turn.earlierSlide}
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
          aria-label={words.turn.laterSlide}
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
