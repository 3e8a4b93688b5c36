import { useEffect } from "react";
import { t } from "@lingui/core/macro";

let name = "";
let waiting = 0;

/** What is looked at, in the title of the tab. */
export function useTitle(text: string): void {
  useEffect(() => {
    name = text;
    show();
  }, [text]);
}

/** How many things wait for the reader: seen in the title from another tab. */
export function showWaiting(count: number): void {
  waiting = count;
  show();
}

function show(): void {
  const place = name === "" ? "Colloquy" : `${name} – Colloquy`;
  document.title = waiting > 0 ? `(${waiting}) ${t`needs your input`} – ${place}` : place;
}
