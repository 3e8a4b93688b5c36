import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { DocumentView, TextPart } from "../../src/protocol/knowledge/documents.ts";
import { useAnswer } from "../parts/answers.ts";
import { Act } from "../parts/action-button.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";
import { maxShown, type PassagePlace, partAfter, partBefore, partsOf, windowAround } from "./text-windows.ts";

/** Kinds whose text is set in columns. */
const fixed = new Set(["csv", "json", "python", "notebook", "xlsx", "ods"]);

type DocumentTextProps = { readonly document: DocumentView; readonly passage: PassagePlace | undefined };

/** The text of a document a part at a time, beginning around the passage. */
export function DocumentText({ document: { id, kind, characters, collectionId }, passage }: DocumentTextProps) {
  const isThere = passage === undefined || passage.from < characters;
  const around = useAnswer(["text", id, passage], async (signal) => [
    windowAround(await client.knowledge.textPart(id, partsOf(isThere ? passage : undefined), signal), passage),
  ]);
  const [more, setMore] = useState<readonly TextPart[]>();
  const parts = more ?? around.data;
  const text = useRef<HTMLDivElement>(null);
  const kept = useRef<{ readonly element: Element; readonly top: number }>(undefined);
  const hasText = parts !== undefined;

  useEffect(() => {
    if (hasText) text.current?.querySelector("mark")?.scrollIntoView({ block: "center" });
  }, [hasText]);
  // What comes above, or goes there, must not move what is being read.
  useLayoutEffect(() => {
    if (!kept.current) return;
    const { element, top } = kept.current;
    kept.current = undefined;
    element.closest(".knowledge-scroll")?.scrollBy(0, element.getBoundingClientRect().top - top);
  }, [parts]);

  if (!parts) return <Waiting of={around} />;
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (last.characters === 0) return <p className="text-muted">{t`This document has no text.`}</p>;

  async function show(side: "before" | "after"): Promise<void> {
    const asked = side === "before" ? partBefore(first) : partAfter(last);
    const came = windowAround(await client.knowledge.textPart(id, asked), { from: asked.keepFrom, to: asked.keepTo });
    const all = side === "before" ? [came, ...parts!] : [...parts!, came];
    // What is far from where one reads goes: it can be shown again.
    let length = all.reduce((sum, part) => sum + part.text.length, 0);
    while (length > maxShown && all.length > 2) length -= (side === "before" ? all.pop() : all.shift())!.text.length;
    const still = text.current?.querySelector(`[data-from="${(side === "before" ? first : last).from}"]`);
    if (still) kept.current = { element: still, top: still.getBoundingClientRect().top };
    setMore(all);
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] justify-items-start gap-3">
      {passage && isThere && <PassageHead id={id} passage={passage} />}
      {!isThere && <p role="alert">{t`This passage no longer exists: the document has changed.`}</p>}
      {first.from > 0 && (
        <div className="flex flex-wrap gap-2">
          <Act onAct={() => show("before")}>{t`Show earlier text`}</Act>
          <PageLink to={`/knowledge/${collectionId}?document=${id}`} look="button">
            {t`To the start of the text`}
          </PageLink>
        </div>
      )}
      <div ref={text} dir="auto" className="reader" data-fixed={fixed.has(kind ?? "")}>
        {parts.map((part) => (
          <span key={part.from} data-from={part.from}>
            <Marked part={part} passage={passage} />
          </span>
        ))}
      </div>
      {last.to < last.characters && <Act onAct={() => show("after")}>{t`Show later text`}</Act>}
    </div>
  );
}

/** A part of the text, with what of the passage is in it. */
function Marked({
  part: { from, to, text },
  passage,
}: {
  readonly part: TextPart;
  readonly passage: DocumentTextProps["passage"];
}) {
  if (!passage || passage.to <= from || passage.from >= to) return text;
  const [begin, end] = [Math.max(0, passage.from - from), Math.min(text.length, passage.to - from)];
  return (
    <>
      {text.slice(0, begin)}
      <mark>{text.slice(begin, end)}</mark>
      {text.slice(end)}
    </>
  );
}

/** Where in the document the passage is. */
function PassageHead({ id, passage: { from } }: { readonly id: string; readonly passage: PassagePlace }) {
  const { data } = useAnswer(["chunks", id, "at", from], (signal) =>
    client.knowledge.chunks(id, { at: from, limit: 1 }, signal),
  );
  const chunk = data?.[0];
  const where = [chunk?.page != null && t`page ${{ page: chunk.page }}`, chunk?.headingPath.join(" › ")];
  return (
    <p className="sticky -top-4 z-10 flex w-full flex-wrap items-center gap-2 bg-paper py-2">
      <span className="passage-mark px-1">{t`Passage`}</span>
      <span>{where.filter(Boolean).join(" · ")}</span>
      <button
        type="button"
        className="button"
        onClick={() => window.document.querySelector(".reader mark")?.scrollIntoView({ block: "center" })}
      >
        {t`To the passage`}
      </button>
    </p>
  );
}
