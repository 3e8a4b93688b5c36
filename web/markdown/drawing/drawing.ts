/** What is asked of the frame that draws: one diagram, in the words of mermaid. */
export type DiagramInput = { readonly id: string; readonly text: string; readonly isDark: boolean };
export type DrawnDiagram = { readonly id: string } & ({ readonly svg: string } | { readonly problem: string });
/** Of what the frame says once it listens. */
const readyId = "ready";

/** Longer than any diagram of the size that is drawn takes; a slow line has to bring what draws first. */
const patienceMs = 30_000;

let frame: HTMLIFrameElement | undefined;
let opening: Promise<DrawnDiagram> | undefined;
let count = 0;

/** The picture as SVG. Throws an Error that says what the words lack. */
export async function draw(text: string, isDark: boolean): Promise<string> {
  try {
    opening ??= openFrame();
    await opening;
  } catch (error) {
    frame?.remove();
    opening = undefined;
    throw error;
  }
  const input: DiagramInput = { id: `diagram-${++count}`, text, isDark };
  const drawing = answerOf(input.id);
  frame?.contentWindow?.postMessage(input, location.origin);
  const drawn = await drawing;
  if ("problem" in drawn) throw new Error(drawn.problem);
  return drawn.svg;
}

/** It writes styles where it draws, which the page's policy forbids: so it has a document of its own, out of sight. */
function openFrame(): Promise<DrawnDiagram> {
  frame = document.createElement("iframe");
  frame.src = "drawing.html";
  frame.className = "drawing-frame";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  const ready = answerOf(readyId);
  document.body.append(frame);
  return ready;
}

function answerOf(id: string): Promise<DrawnDiagram> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const late = setTimeout(() => {
      over.abort();
      reject(new Error("The diagram took too long to draw."));
    }, patienceMs);
    addEventListener(
      "message",
      ({ source, data }: MessageEvent<DrawnDiagram>) => {
        if (source !== frame?.contentWindow || data.id !== id) return;
        clearTimeout(late);
        over.abort();
        resolve(data);
      },
      { signal: over.signal },
    );
  });
}
