import { z } from "zod";
import { fileChange } from "../src/protocol/threads/files.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";

export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
  "base64",
);
export const chart = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><script>alert(1)</script><rect width="120" height="60" fill="teal"/></svg>`;

/** As a tool that draws: it says which files it made, which the test puts there. */
export const draw = defineTool({
  name: "draw",
  description: "Draws.",
  input: z.object({ what: z.string() }),
  effect: "write",
  execute: () => ({
    content: "drawn",
    data: {
      files: [
        fileChange("plot.png", png.length, "made"),
        fileChange("charts/sales.svg", chart.length, "made"),
        fileChange("data/sales.csv", 40, "changed"),
        fileChange("notes.md", 20, "made"),
        fileChange("gone.png", 0, "removed"),
        { path: 7 },
      ],
    },
  }),
});
export const look = defineTool({
  name: "look",
  description: "Looks something up.",
  input: z.object({ query: z.string() }),
  effect: "read",
  execute: () => ({
    content: "[1] Herons wait. [2] Storks clatter.",
    sources: [
      {
        kind: "document",
        title: "herons.md",
        collectionId: "c1",
        documentId: "d1",
        page: 3,
        charStart: 10,
        charEnd: 42,
      },
      { kind: "web", title: "Storks", url: "https://example.com/storks" },
    ],
  }),
});
/** To whom mail was sent, in the order of it. */
export const sent: string[] = [];
export const mail = defineTool({
  name: "send_mail",
  description: "Sends a mail.",
  input: z.object({ to: z.string() }),
  effect: "write",
  execute({ to }) {
    sent.push(to);
    return `sent to ${to}`;
  },
});
