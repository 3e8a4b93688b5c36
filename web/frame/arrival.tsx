import { useEffect, useState } from "react";

let last: string | undefined;

/**
 * Stands behind a view: when another one is shown, or something in it that has a place of its own (`place` of it begins with that
 * of the view), its message field gets the focus, or else its heading, and its title is read out.
 */
export function Arrival({ place, title }: { readonly place: string; readonly title: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const isFirst = last === undefined;
    // Out of one of its places and back to the view: whoever closed or removed it is where they were.
    const isSame = last === place || last?.startsWith(`${place}/`);
    last = place;
    if (isFirst || isSame) return;
    setSaid(title);
    const main = document.getElementById("main");
    // A field that wants the focus has taken it.
    if (!main || main.querySelector(":focus")) return;
    // Where one types with the screen, a field that has the focus takes half of it.
    const field = matchMedia("(pointer: coarse)").matches ? null : main.querySelector<HTMLElement>("[data-composer]");
    const target = field ?? main.querySelector<HTMLElement>("h1") ?? main;
    if (target.tabIndex < 0) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }, [place, title]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}
