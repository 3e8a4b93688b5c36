import { common, createLowlight } from "lowlight";
import { type HighlightedCode, type HighlightInput, type HighlightNode, linesOf } from "./coloured-code.ts";

const lowlight = createLowlight(common);

/** Away from the page's own thread, which colouring would stop for a second with much code. */
addEventListener("message", ({ data: { id, language, text } }: MessageEvent<HighlightInput>) => {
  const done: HighlightedCode = lowlight.registered(language)
    ? { id, lines: linesOf(lowlight.highlight(language, text).children as readonly HighlightNode[]) }
    : { id };
  postMessage(done);
});
