const load = () => import("./markdown.tsx");
let loading: ReturnType<typeof load> | undefined;

/** What formats texts: the first view does without, and it is fetched once there will be some. */
export function loadMarkdown(): ReturnType<typeof load> {
  loading ??= load();
  return loading;
}

/** So that it is there when the first text is. */
export function prepareMarkdown(): void {
  // Where it can't be fetched, the text is shown as it is.
  loadMarkdown().catch(() => undefined);
}
