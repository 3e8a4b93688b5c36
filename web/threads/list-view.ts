import { useSyncExternalStore } from "react";
import { createListeners } from "../browser/listeners.ts";

/** What the list shows instead of one's own order: what was put away, or what a search finds. */
export type ListView = { readonly search: string; readonly isArchive: boolean };

const usual: ListView = { search: "", isArchive: false };
let view = usual;
const listeners = createListeners();

export const useListView = () => useSyncExternalStore(listeners.listen, () => view);

export function changeListView(change: Partial<ListView>): void {
  view = { ...view, ...change };
  listeners.tell();
}

/** So that a new conversation is seen in the list. */
export function endSearch(): void {
  if (view !== usual) changeListView(usual);
}
