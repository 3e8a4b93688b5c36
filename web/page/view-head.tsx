import { type ReactNode, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { createListeners } from "../browser/listeners.ts";

let place: HTMLElement | null = null;
const listeners = createListeners();

function setPlace(element: HTMLElement | null): void {
  place = element;
  listeners.tell();
}

/** Where a view puts its own head, in the bar at the top of the page. */
export function HeadPlace() {
  return <div ref={setPlace} className="head-place" />;
}

/** What a view says and offers in the bar at the top. */
export function ViewHead({ children }: { readonly children: ReactNode }) {
  const element = useSyncExternalStore(listeners.listen, () => place);
  return element && createPortal(children, element);
}
