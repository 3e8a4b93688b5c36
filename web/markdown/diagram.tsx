import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { t } from "@lingui/core/macro";
import { reasonOf } from "../page/server.ts";
import { draw } from "./drawing/drawing.ts";
import { PictureButton } from "./picture.tsx";

type DiagramProps = { readonly text: string; /** Of which it is drawn. */ readonly code: ReactNode };
type RenderedDiagram = { readonly address: string; readonly width: number; readonly height: number };

/** What a model drew in words. It is shown as an image, so that nothing in it can act or load; what can't be drawn stays code. */
export function Diagram({ text, code }: DiagramProps) {
  const isDark = useIsDark();
  const [drawn, setDrawn] = useState<RenderedDiagram>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    draw(text, isDark).then(
      (svg) => !isOver && setDrawn(imageOf(svg)),
      (error: unknown) => !isOver && setProblem(inShort(reasonOf(error))),
    );
    return () => {
      isOver = true;
    };
  }, [text, isDark]);
  if (problem !== undefined)
    return (
      <>
        {code}
        <p className="text-sm text-warn">{t`Couldn't draw this diagram: ${{ why: problem }}`}</p>
      </>
    );
  if (!drawn) return code;
  return (
    <figure>
      <PictureButton {...drawn} name={t`Diagram`} />
      <details className="text-sm text-muted">
        <summary className="leading-6">{t`Code`}</summary>
        {code}
      </details>
    </figure>
  );
}

/** Where it can't be read stands in the lines below the first. */
function inShort(reason: string): string {
  const [first = "", ...others] = reason.split("\n").map((line) => line.trim());
  const last = others.at(-1) ?? "";
  const at = last.indexOf(" got '");
  const got = at !== -1 && last.slice(at + " got '".length).endsWith("'") ? last.slice(at) : "";
  return first.endsWith(":") ? `${first} ${others[0] ?? ""}${got && `,${got}`}` : first;
}

function imageOf(svg: string): RenderedDiagram {
  const [, width, height] = /viewBox="[-\d.e]+ [-\d.e]+ ([\d.e]+) ([\d.e]+)"/.exec(svg) ?? [];
  const [wide, high] = [Math.ceil(Number(width)) || 600, Math.ceil(Number(height)) || 400];
  // As an image it has the size that it says itself.
  const sized = svg.replace(/^<svg([^>]*?) width="[^"]*"/, `<svg$1 width="${wide}" height="${high}"`);
  return { address: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sized)}`, width: wide, height: high };
}

const system = matchMedia("(prefers-color-scheme: dark)");

/** For what takes no colours from tokens. */
function useIsDark(): boolean {
  return useSyncExternalStore(listen, () => {
    const chosen = document.documentElement.dataset["theme"] ?? "";
    return chosen === "" ? system.matches : chosen === "dark";
  });
}

function listen(listener: () => void): () => void {
  const changes = new MutationObserver(listener);
  changes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", listener);
  return () => {
    changes.disconnect();
    system.removeEventListener("change", listener);
  };
}
