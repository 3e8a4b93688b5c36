import type { DrawnDiagram, DiagramInput } from "./drawing.ts";

const flat = { dropShadow: "none", useGradient: false };
/** The names of lines stand on the ground of the drawing, `--raised`, which the library reads in hexadecimal only. */
const darkGrounds = { edgeLabelBackground: "#191815", clusterBkg: "#24221f", noteBkgColor: "#24221f" };

/** One after the other: the library keeps its settings for all. */
let last: Promise<unknown> = Promise.resolve();

const answer = (drawing: DrawnDiagram) => parent.postMessage(drawing, location.origin);

addEventListener("message", ({ source, data }: MessageEvent<DiagramInput>) => {
  if (source !== parent) return;
  last = last
    .then(() => draw(data))
    .then(
      (svg) => answer({ id: data.id, svg }),
      (error: unknown) => answer({ id: data.id, problem: error instanceof Error ? error.message : String(error) }),
    );
});
answer({ id: "ready", svg: "" });

async function draw({ id, text, isDark }: DiagramInput): Promise<string> {
  const { default: mermaid } = await import("mermaid");
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    look: "classic",
    theme: isDark ? "dark" : "neutral",
    themeVariables: isDark ? { ...flat, ...darkGrounds } : { ...flat, edgeLabelBackground: "#ffffff" },
    fontFamily: "system-ui, sans-serif",
    htmlLabels: false,
    suppressErrorRendering: true,
    maxTextSize: 30_000,
    maxEdges: 300,
  });
  return (await mermaid.render(id, withoutElements(text))).svg;
}

/** The library puts labels into the page to measure them, before it cleans them: no element may stand there but a line's end. */
function withoutElements(text: string): string {
  return text.replaceAll(/<<\w+>>|<br ?\/?>|<(?=[a-z/!?])/gi, (found) => (found === "<" ? "#lt;" : found));
}
