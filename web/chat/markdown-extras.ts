import { useSyncExternalStore } from "react";
import type { ComponentProps } from "react";
import type ReactMarkdown from "react-markdown";
import { createListeners } from "../listeners.ts";

type Plugin = NonNullable<ComponentProps<typeof ReactMarkdown>["rehypePlugins"]>[number];
type Extra = { readonly read: Plugin; readonly show: Plugin };

/** What few texts need, and is large: loaded when the first such text is shown. */
const loaders = {
  async maths(): Promise<Extra> {
    const [{ default: read }, { default: show }] = await Promise.all([import("remark-math"), import("rehype-katex")]);
    // The browser's own formulas need no fonts. What a model wrote may neither grow without end nor load anything.
    const options = { output: "mathml", strict: "ignore", maxSize: 20, maxExpand: 500, trust: false } as const;
    return { read: [read, { singleDollarTextMath: false }], show: [show, options] };
  },
  async colours(): Promise<Extra> {
    const { default: show } = await import("rehype-highlight");
    return { read: show, show: [show, { plainText: ["mermaid", "text", "txt"] }] };
  },
};
type Name = keyof typeof loaders;

const loaded: Partial<Record<Name, Extra>> = {};
const asked = new Set<Name>();
const listeners = createListeners();

/** Undefined while it is not there: until then the text is shown without. */
export function useMarkdownExtra(name: Name, isNeeded: boolean): Extra | undefined {
  return useSyncExternalStore(listeners.listen, () => {
    if (isNeeded) load(name);
    return isNeeded ? loaded[name] : undefined;
  });
}

function load(name: Name): void {
  if (asked.has(name)) return;
  asked.add(name);
  loaders[name]().then(
    (extra) => {
      loaded[name] = extra;
      listeners.tell();
    },
    // Tried again by the next text that needs it.
    () => asked.delete(name),
  );
}
